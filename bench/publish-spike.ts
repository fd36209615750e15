// How should `publish` apply staging Parquet to a table without keys or indexes? See docs/adr/0001.
//   npx tsx bench/publish-spike.ts --rows 10000000 --memory 300MB
//     [--candidate update|replace|merge|rewrite] [--slice files|hash] [--slice-rows 270000] [--vacuum 0] [--nights abdec] [--dir …]
// Nights, each over what the one before left: a first load; b all rows seen, 1 % changed; d 1/10 of the rows
// seen, none changed; e 1,000 tiny targets (30 rows each) in one slice; c all rows seen, all changed.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

const { values: option } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    memory: { type: 'string', default: '300MB' },
    candidate: { type: 'string', default: 'update' },
    slice: { type: 'string', default: 'files' },
    'slice-rows': { type: 'string', default: '270000' },
    vacuum: { type: 'string', default: '0' },
    nights: { type: 'string', default: 'abdec' },
    dir: { type: 'string', default: tmpdir() },
  },
});
const rows = Number(option.rows);
const sliceRows = Number(option['slice-rows']);
const rowsPerFile = 33_334;
const work = mkdtempSync(join(option.dir, 'publish-spike-'));
const dbPath = join(work, 'build.duckdb');

/** One staging row per asset. `changed` rows differ from night 1 in owner and record_hash; order is random. */
const assetsSql = (night: number, from: number, to: number, changedPercent: number) => `
  with picked as (select (r * 6700417 + ${night * 7777}) % ${rows} as n from range(${from}, ${to}) g(r)),
  hashed as (
    select n, if(n % 100 < ${changedPercent}, ${night < 5 ? 2 : night}, 0) as version, addr(n || 'id') as id, addr(n || 'x') as x
    from picked)
  select id, 'V1_NFT' as interface, 'Asset #' || n as name, 'AST' || n % 1000 as symbol,
    'One of the series ' || n % 1000 as description, 'https://arweave.net/' || x || '/metadata.json' as json_uri,
    'https://cdn.example/' || left(x, 20) || '.png' as image, addr((n * 31 + version) % 1000000) as owner,
    'single' as ownership_model, false as frozen, n % 9 = 0 as delegated, null::varchar as delegate,
    true as compressed, addr(n % 50) as tree, n // 50 as leaf_id, n // 50 as seq,
    right(x, 22) || left(id, 22) as data_hash, right(id, 22) || left(x, 22) as creator_hash,
    left(x, 22) || left(id, 22) as asset_hash, addr(n % 1000 || 'c') as collection,
    500 as royalty_basis_points, false as burnt, true as mutable,
    18446744073709551615::ubigint - n::ubigint as token_supply,
    [{address: addr(n % 1000), share: 60, verified: true},
     {address: addr(n % 1000 || 'z'), share: 40, verified: false}] as creators,
    [{group_key: 'collection', group_value: addr(n % 1000 || 'c')}] as grouping,
    [{trait_type: 'background', value: 'bg' || n % 13}, {trait_type: 'body', value: 'body' || n % 29},
     {trait_type: 'eyes', value: 'eyes' || n % 31}, {trait_type: 'hat', value: 'hat' || n % 37},
     {trait_type: 'mouth', value: 'mouth' || n % 17}, {trait_type: 'level', value: (n % 99)::varchar}] as attributes,
    hash(n, version) as record_hash, (1000 * ${night} + n % 1000)::bigint as slot,
    timestamptz '2026-01-01 00:00:00+00' + interval (${night}) day as seen_at
  from hashed`;

/** Writes staging files as the loader would, then one more file of older duplicates, which must change nothing. */
async function stage(night: number, count: number, changedPercent: number): Promise<string[]> {
  const dir = join(work, `night-${night}`);
  mkdirSync(dir);
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '2GB' });
  const starts = Array.from({ length: Math.ceil(count / rowsPerFile) }, (_, i) => i * rowsPerFile);
  const writer = async (connection: DuckDBConnection) => {
    for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
      const sql = assetsSql(night, from, Math.min(from + rowsPerFile, count), changedPercent);
      const file = join(dir, `${String(from).padStart(9, '0')}.parquet`);
      await connection.run(`copy (${sql}) to '${file}' (compression zstd, compression_level 1)`);
    }
  };
  const connections = [await instance.connect(), await instance.connect()];
  await connections[0]!.run(`create macro addr(x) as
    to_base64(unhex(md5(x::varchar) || md5(x::varchar || 'b')))`);
  await Promise.all(connections.map(writer));
  const older = `select * replace (slot - 1 as slot, 7::ubigint as record_hash)
    from read_parquet('${join(dir, '000000000.parquet')}')`;
  await connections[0]!.run(`copy (${older}) to '${join(dir, 'older.parquet')}'`);
  instance.closeSync();
  return readdirSync(dir)
    .sort()
    .map((name) => join(dir, name));
}

/** What one slice reads: a run of staging files, or every file filtered to one bucket of hash(id). */
type Slice = { files: string; filter: string };

function planSlices(files: string[]): Slice[] {
  const list = (paths: string[]) => `[${paths.map((path) => `'${path}'`).join(', ')}]`;
  const filesPerSlice = Math.max(1, Math.floor(sliceRows / rowsPerFile));
  const count = Math.ceil(files.length / filesPerSlice);
  return Array.from({ length: count }, (_, i) =>
    option.slice === 'hash'
      ? { files: list(files), filter: `where hash(id) % ${count} = ${i}` }
      : { files: list(files.slice(i * filesPerSlice, (i + 1) * filesPerSlice)), filter: '' },
  );
}

const isNewer = `case when s.slot <> t.slot then s.slot > t.slot else s.seen_at > t.seen_at end`;
/** The newest copy of each key in the slice, narrow: where its wide row is, not the row itself. */
const seenSql = ({ files, filter }: Slice) => `
  create or replace temp table seen as
  select id, unnest(max_by(
    struct_pack(record_hash, slot, seen_at, file_index, file_row_number), (coalesce(slot, -1), seen_at)))
  from (select id, record_hash, slot, seen_at, file_index, file_row_number
        from read_parquet(${files}, file_row_number = true) ${filter})
  group by id`;
/** Seen rows that are new or newer than the table's; the others are stale or already applied. */
const verdictSql = ({ filter }: Slice) => `
  create or replace temp table verdict as
  select s.file_index, s.file_row_number, s.slot, s.seen_at, t.target, t.first_seen_slot, t.changed_slot,
    t.target is null or t.record_hash is distinct from s.record_hash as changed
  from seen s
  left join (select rowid as target, id, record_hash, slot, seen_at, first_seen_slot, changed_slot
             from assets ${filter}) t on t.id = s.id
  where t.target is null or ${isNewer}`;
const confirmSql = `update assets set slot = v.slot, seen_at = v.seen_at
  from verdict v where assets.rowid = v.target and not v.changed`;
const deleteSql = (which: string) =>
  `delete from assets where rowid in (select target from verdict where ${which} and target is not null)`;
const insertSql = (table: string, which: string, columns: string[], { files }: Slice) => `
  insert into ${table} (${columns.join(', ')}, first_seen_slot, changed_slot, run_id)
  select ${columns.map((name) => `s.${name}`).join(', ')}, coalesce(v.first_seen_slot, s.slot),
    if(v.changed, s.slot, v.changed_slot), 'run'
  from read_parquet(${files}, file_row_number = true) s
  join (select file_index, file_row_number, first_seen_slot, changed_slot, changed from verdict where ${which}) v
    on v.file_index = s.file_index and v.file_row_number = s.file_row_number`;
const mergeSql = (columns: string[], { files, filter }: Slice) => `
  merge into assets t
  using (select w.* exclude (file_row_number) from read_parquet(${files}, file_row_number = true) w
         join seen n on n.file_index = w.file_index and n.file_row_number = w.file_row_number
         ${filter.replace('hash(id)', 'hash(w.id)')}) s on s.id = t.id
  when matched and ${isNewer} and t.record_hash is distinct from s.record_hash then update set
    ${columns.map((name) => `${name} = s.${name}`).join(', ')}, changed_slot = s.slot
  when matched and ${isNewer} then update set slot = s.slot, seen_at = s.seen_at
  when not matched then insert (${columns.join(', ')}, first_seen_slot, changed_slot, run_id)
    values (${columns.map((name) => `s.${name}`).join(', ')}, s.slot, s.slot, 'run')`;

const seconds: Record<string, number> = {};
let changes = 0;
async function step(db: DuckDBConnection, name: string, sql: string) {
  const start = performance.now();
  const { rowsChanged } = await db.run(sql);
  seconds[name] = (seconds[name] ?? 0) + (performance.now() - start) / 1000;
  if (['confirm', 'delete', 'insert', 'merge'].includes(name)) changes += rowsChanged;
}

async function applySlice(db: DuckDBConnection, columns: string[], slice: Slice, candidate: string) {
  await step(db, 'begin', 'begin');
  await step(db, 'seen', seenSql(slice));
  if (candidate === 'merge') await step(db, 'merge', mergeSql(columns, slice));
  else {
    await step(db, 'verdict', verdictSql(slice));
    const which = candidate === 'update' ? 'changed' : 'true';
    if (candidate === 'update') await step(db, 'confirm', confirmSql);
    if (candidate !== 'rewrite') await step(db, 'delete', deleteSql(which));
    const [first] = (await db.runAndReadAll(`select exists (from verdict where ${which})`)).getRowsJS();
    const table = candidate === 'rewrite' ? 'assets_next' : 'assets';
    if (first![0]) await step(db, 'insert', insertSql(table, which, columns, slice)); // spares a wide read
  }
  await step(db, 'commit', 'commit');
  await step(db, 'checkpoint', 'checkpoint');
}

const open = async () => {
  const instance = await DuckDBInstance.create(dbPath, {
    threads: '2',
    memory_limit: option.memory,
    preserve_insertion_order: 'false',
    temp_directory: join(work, 'spill'),
    checkpoint_threshold: '4GB',
    max_vacuum_tasks: option.vacuum, // 100 is DuckDB's default: each checkpoint then rewrites partial row groups
  });
  const db = await instance.connect();
  return { db, close: () => instance.closeSync() };
};
const scalars = async (db: DuckDBConnection, sql: string) => (await db.runAndReadAll(sql)).getRowsJS()[0]!;
const peakRssMb = () =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024);

/** Publishes one night, prints its line, and fails if the table is not exactly what the night left. */
async function publish(label: string, files: string[], candidate: string) {
  for (const name of Object.keys(seconds)) delete seconds[name];
  changes = 0;
  writeFileSync('/proc/self/clear_refs', '5'); // resets VmHWM
  const { db, close } = await open();
  const described = await db.runAndReadAll(`describe select * from read_parquet('${files[0]}')`);
  const columns = described.getRowsJS().map((row) => String(row[0]));
  const empty = `as select *, slot as first_seen_slot, slot as changed_slot, ''::varchar as run_id
    from read_parquet('${files[0]}') limit 0`;
  await db.run(`create table if not exists assets ${empty}`);
  const start = performance.now();
  if (candidate === 'rewrite') await db.run(`create table assets_next ${empty}`);
  for (const slice of planSlices(files)) await applySlice(db, columns, slice, candidate);
  if (candidate === 'rewrite') {
    for (
      let i = 0;
      i < 16;
      i++ // the rows not seen, in buckets that fit in memory
    )
      await step(
        db,
        'carry over',
        `insert into assets_next select * from assets where hash(id) % 16 = ${i}
        and id not in (select id from assets_next where hash(id) % 16 = ${i})`,
      );
    await db.run('drop table assets; alter table assets_next rename to assets');
    await step(db, 'checkpoint', 'checkpoint');
  }
  const total = (performance.now() - start) / 1000;
  const peak = peakRssMb();
  const facts = 'count(*), sum(slot), sum(record_hash)';
  const seen = files.filter((file) => !file.endsWith('older.parquet')).map((file) => `'${file}'`);
  const truth = await scalars(db, `select ${facts} from read_parquet([${seen.join(', ')}])`);
  const part = Number(truth[0]) < rows ? `where seen_at = (select max(seen_at) from assets)` : '';
  const found = await scalars(db, `select ${facts} from assets ${part}`);
  const [count] = await scalars(db, 'select count(*) from assets');
  close();
  if (truth.join() !== found.join() || Number(count) !== rows)
    throw new Error(`${label}: expected ${truth.join()}, found ${found.join()}, ${count} rows`);
  const phases = Object.entries(seconds).filter(([, s]) => s >= 0.05);
  console.log(
    `| ${label} | ${total.toFixed(1)} | ${peak} | ${Math.round(statSync(dbPath).size / 1e6)} | ${changes} |`,
    `${phases.map(([name, s]) => `${name} ${s.toFixed(1)}`).join(', ')} |`,
  );
}

try {
  console.log(
    `${rows} rows, ${option.memory}, ${option.candidate}, slices of ${sliceRows} rows by ${option.slice}`,
  );
  console.log('| night | s | peak RSS MB | file MB | rows written | phases (s) |\n|---|---|---|---|---|---|');
  const nights: [string, string, number, number][] = [
    ['a', 'first load', rows, 0],
    ['b', '1 % changed', rows, 1],
    ['d', 'tenth seen, none changed', rows / 10, 1],
    ['e', '1,000 tiny targets', 30_000, 1],
    ['c', 'all changed', rows, 100],
  ];
  for (const [index, [key, title, count, changedPercent]] of nights.entries()) {
    if (!option.nights.includes(key)) continue;
    const files = await stage(index + 1, count, changedPercent);
    await publish(`${key} ${title}`, files, key === 'a' ? 'update' : option.candidate);
    if (key === 'b') await publish('b again (idempotent)', files, option.candidate);
    rmSync(join(work, `night-${index + 1}`), { recursive: true });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
