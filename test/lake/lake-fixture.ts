import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { attachLake } from '../../src/export/catalog-export.ts';
import type { ExportResult } from '../../src/export/export-options.ts';
import { describeCatalog, type LakeCatalog } from '../../src/export/lake-catalog.ts';
import { type Database, openDatabase } from '../../src/warehouse/database.ts';
import { createFixture, type Fixture } from '../support/export-fixture.ts';

export const extensionDirectory = process.env.LAKE_EXTENSIONS!;

let count = 0;

/** A lake in a catalog, and the snapshot that it is filled from. */
export interface CatalogFixture extends Fixture {
  catalog: LakeCatalog;
  namespace: string;
  /** Exports, and returns what changed by table. */
  night(options?: Parameters<Fixture['export']>[0]): Promise<ExportResult[]>;
  /** Works on the lake as another writer or reader does, with the snapshot attached as `warehouse`. */
  inLake<T>(work: (database: Database) => Promise<T>): Promise<T>;
}

export async function createCatalogFixture(format: 'iceberg' | 'ducklake'): Promise<CatalogFixture> {
  const fixture = await createFixture();
  count += 1;
  const namespace = `n${process.pid}_${count}`;
  const isIceberg = format === 'iceberg';
  const catalog = describeCatalog(
    {
      format,
      lake: fixture.lake,
      catalog: {
        ...{
          uri: join(fixture.root, 'catalog.ducklake'),
          endpoint: process.env.LAKE_CATALOG!,
          warehouse: 'lake',
        },
        ...{ namespace, auth: 'none' },
      },
      endpoint: isIceberg ? process.env.LAKE_S3! : null,
      forcePathStyle: true,
    },
    process.env,
  );
  return {
    ...fixture,
    catalog,
    namespace,
    night: (options = {}) => fixture.export({ catalog, extensionDirectory, ...options }),
    async inLake(work) {
      const options = { memoryLimit: '1GB', threads: 2, tempDir: join(fixture.root, 'other-temp') };
      const database = await openDatabase(':memory:', options);
      try {
        await attachLake(database, catalog, extensionDirectory);
        await database.run(`attach '${fixture.snapshot}' as warehouse (read_only)`);
        return await work(database);
      } finally {
        database.close();
      }
    },
  };
}

/** The rows that only one side of each table has, by the columns that the lake has. */
export async function compareTables(
  { catalog }: CatalogFixture,
  database: Database,
  tables: readonly string[],
): Promise<string[]> {
  const differences: string[] = [];
  for (const table of tables) {
    const described = await database.rows<{ column_name: string; column_type: string }>(
      `describe ${catalog.schema}${table}`,
    );
    const names = described.map((column) => `"${column.column_name}"`).join(', ');
    const cast = described
      .map(({ column_name: name, column_type: type }) => `"${name}"::${type} as "${name}"`)
      .join(', ');
    const [ours, theirs] = [
      `select ${cast} from warehouse.main.${table}`,
      `select ${names} from ${catalog.schema}${table}`,
    ];
    const [row] = await database.rows<{ missing: bigint; invented: bigint }>(
      `select (select count(*) from (${ours} except all ${theirs})) as missing,
        (select count(*) from (${theirs} except all ${ours})) as invented`,
    );
    if (row!.missing + row!.invented > 0n)
      differences.push(`${table}: ${row!.missing} missing, ${row!.invented} invented`);
  }
  return differences;
}

/** What a Python program prints, as JSON. */
export async function python<T>(program: string, ...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.env.LAKE_PYTHON!, ['-c', program, ...args]);
  return JSON.parse(stdout) as T;
}
