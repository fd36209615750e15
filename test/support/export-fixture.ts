import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { checkExport, exportTables } from '../../src/export/export.ts';
import type { ExportOptions, ExportResult } from '../../src/export/export-options.ts';
import { createSchema } from '../../src/warehouse/build.ts';
import { type Database, openDatabase } from '../../src/warehouse/database.ts';

/** A snapshot of the real tables in a temporary folder, and the lake beside it. */
export interface Fixture {
  root: string;
  snapshot: string;
  lake: string;
  /** Runs statements on the snapshot, read-write. */
  change(...statements: string[]): Promise<void>;
  export(options?: Partial<ExportOptions>): Promise<ExportResult[]>;
  /** What a run checks before it crawls. */
  check(options?: Partial<ExportOptions>): Promise<void>;
  /** Rows of a query that may read the snapshot and the lake's files. */
  query<T>(sql: string): Promise<T[]>;
}

export async function createFixture(): Promise<Fixture> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-export-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const snapshot = join(root, 'warehouse.duckdb');
  const lake = join(root, 'lake');
  const open = (readOnly = false) =>
    openDatabase(snapshot, { memoryLimit: '2GB', threads: 2, tempDir: join(root, 'temp'), readOnly });
  const use = async <T>(database: Database, work: (database: Database) => Promise<T>) => {
    try {
      return await work(database);
    } finally {
      database.close();
    }
  };
  await use(await open(), async (database) => {
    await createSchema(database);
    await database.run('create view asset_owners as select id, owner from assets');
  });
  const defaults: ExportOptions = {
    snapshot,
    lake,
    owner: { idFile: join(root, 'lake.id'), isInside: false },
    tables: null,
    partitionBy: {},
    places: { tables: 'lake.tables', partitionBy: 'lake.partition_by' },
    keep: 2,
    fileMode: 0o640,
    endpoint: null,
    forcePathStyle: false,
    memoryLimit: '256MB',
    threads: 2,
    tempDir: join(root, 'temp'),
  };
  return {
    root,
    snapshot,
    lake,
    change: async (...statements) =>
      use(await open(), async (database) => {
        for (const statement of statements) await database.run(statement);
      }),
    query: async (sql) => use(await open(true), (database) => database.rows(sql)),
    export: (options = {}) => exportTables({ ...defaults, ...options }),
    check: (options = {}) => checkExport({ ...defaults, ...options }),
  };
}

/** Token accounts `from` to `to` (exclusive), with the largest u64 among them. */
export function insertTokenAccounts(from: number, to: number): string {
  return `insert into token_accounts by name
    select
      'address-' || i as address,
      'mint-' || (i % 3) as mint,
      case when i % 7 = 0 then null else 'own''er "é ☃ 𝄞' || i end as owner,
      (18446744073709551615 - i)::ubigint as amount,
      i::ubigint as delegated_amount,
      '{"a":[18446744073709551615, "\\u0000"]}'::json as burnt,
      300000000 + i as slot,
      timestamptz '2026-01-01 00:00:00.123456+00' as seen_at,
      seen_at as changed_at,
      'run' as run_id,
      hash(i) as record_hash
    from range(${from}, ${to}) r(i)`;
}

export const insertAssets = `insert into assets by name
  select
    'asset-' || i as id,
    case i when 0 then '' when 1 then null else 'näme, "quoted"' || chr(10) || '猫' end as name,
    case i when 0 then 18446744073709551615 when 1 then 9007199254740993 else null end::ubigint as token_supply,
    [{'address': 'creator', 'share': i::integer, 'verified': true}, null] as creators,
    [{'trait_type': 'colour', 'value': 'rot 🟥'}, {'trait_type': null, 'value': ''}] as attributes,
    case i when 2 then [] else [{'address': 'a', 'scopes': ['full', null]}] end as authorities,
    '{"x": 1.50}'::json as inscription,
    0.1::double as royalty_percent,
    case i when 0 then null else 7 + i end as slot,
    timestamptz '2026-01-01 00:00:00+00' as seen_at,
      seen_at as changed_at,
    'run' as run_id,
    (18446744073709551615 - i)::ubigint as record_hash
  from range(4) r(i)`;

/** Every path below a folder, sorted; symlinks are not followed. */
export async function listTree(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1)).sort();
}

export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}
