import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSchema } from '../../src/warehouse/build.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { insertAssets, insertTokenAccounts } from './export-fixture.ts';

/** A folder with `data/warehouse.duckdb` in it: 4 assets and 100 token accounts. */
export interface TestFolder {
  root: string;
  /** Runs a statement on the snapshot, as a finished run would change it. */
  change(statement: string): Promise<void>;
  /** Columns with types, and the number of rows. */
  readParquet(path: string): Promise<[[string, string][], bigint]>;
  remove(): Promise<void>;
}

export async function createDataFolder(): Promise<TestFolder> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-cli-'));
  const snapshot = join(root, 'data', 'warehouse.duckdb');
  await mkdir(join(root, 'data'));
  const options = { memoryLimit: '128MB', threads: 1, tempDir: join(root, 'temp') };
  const change = async (...statements: string[]) => {
    const database = await openDatabase(snapshot, options);
    if (statements.length > 1) await createSchema(database);
    for (const statement of statements) await database.run(statement);
    database.close();
    await chmod(snapshot, 0o640);
  };
  await change(insertAssets, insertTokenAccounts(0, 100));
  return {
    root,
    change,
    async readParquet(path) {
      const database = await openDatabase(':memory:', options);
      const columns = await database.rows<{ column_name: string; column_type: string }>(
        `describe from read_parquet('${path}')`,
      );
      const [count] = await database.rows<{ n: bigint }>(`select count(*) as n from read_parquet('${path}')`);
      database.close();
      return [columns.map(({ column_name, column_type }) => [column_name, column_type]), count!.n];
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
