// How long does publish take, and in how much memory, on a table of N assets? The real publish, on staging files
// made here. See docs/adr/0001.
//   npx tsx bench/publish.ts --rows 10000000 --memory 300MB [--nights abdc] [--dir …]
// Nights, each over what the one before left: a first load; b all rows seen, 1 % changed; d a tenth of the rows
// seen, none changed; c all rows seen, all changed. Each publish is a process of its own, so its peak is its own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type DataFolder, dataFolder, makeDataFolder } from '../src/data-folder.ts';
import { stagingFile } from '../src/load/staged-segments.ts';
import { publish } from '../src/publish/publish.ts';
import { openBuild } from '../src/warehouse/build.ts';
import { type Database, openDatabase } from '../src/warehouse/database.ts';
import { listGroups, stagedHashes } from '../src/warehouse/row-groups.ts';
import { readTableSpecs } from '../src/warehouse/table-spec.ts';

const { values: option } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    memory: { type: 'string', default: '300MB' },
    nights: { type: 'string', default: 'abdc' },
    dir: { type: 'string', default: tmpdir() },
    publish: { type: 'string' },
    run: { type: 'string', default: '' },
  },
});
const rows = Number(option.rows);
const rowsPerSegment = 33_334;
const spec = readTableSpecs().find(({ name }) => name === 'assets')!;

/** Values of the columns that a real asset has most bytes in; the others are NULL. */
const values: Record<string, string> = {
  id: 'id',
  interface: `'V1_NFT'`,
  name: `'Asset #' || k`,
  symbol: `'AST' || k % 1000`,
  description: `'One of the series ' || k % 1000`,
  json_uri: `'https://arweave.net/' || x || '/metadata.json'`,
  image: `'https://cdn.example/' || left(x, 20) || '.png'`,
  owner: 'addr((k * 31 + version) % 1000000)',
  ownership_model: `'single'`,
  frozen: 'false',
  delegated: 'k % 9 = 0',
  compressed: 'true',
  tree: 'addr(k % 50)',
  leaf_id: 'k // 50',
  seq: 'k // 50',
  data_hash: 'right(x, 22) || left(id, 22)',
  creator_hash: 'right(id, 22) || left(x, 22)',
  asset_hash: 'left(x, 22) || left(id, 22)',
  collection: `addr(k % 1000 || 'c')`,
  royalty_basis_points: '500',
  burnt: 'false',
  mutable: 'true',
  token_supply: '18446744073709551615::ubigint - k::ubigint',
  creators: `[{address: addr(k % 1000), share: 60, verified: true}, {address: addr(k % 1000 || 'z'), share: 40, verified: false}]`,
  grouping: `[{group_key: 'collection', group_value: addr(k % 1000 || 'c')}]`,
  attributes: `list_transform(['background', 'body', 'eyes', 'hat', 'mouth', 'level'], lambda t: {trait_type: t, value: t || k % 29})`,
};

/** Staged rows of one segment, in random order of the ids; `changed` rows differ from earlier nights in their owner. */
function stagedSql(
  columns: { name: string; type: string }[],
  night: number,
  from: number,
  to: number,
  changedPercent: number,
) {
  const groups = listGroups(
    spec,
    columns.map(({ name }) => name),
  );
  const own = columns.filter(
    ({ name }) => spec.key.includes(name) || groups.some((group) => group.columns.includes(name)),
  );
  // Nights b and d see the same owners, so that nothing changes in d.
  const version = night === 3 ? 2 : night;
  const hashes = stagedHashes(
    spec,
    columns.map(({ name }) => name),
  );
  return `
    with picked as (select (r * 6700417 + ${night * 7777}) % ${rows} as k from range(${from}, ${to}) g(r)),
    named as (select k, if(k % 100 < ${changedPercent}, ${version}, 0) as version, addr(k || 'id') as id, addr(k || 'x') as x from picked),
    shaped as (
      select 'bench' as task, 'night-${night}' as crawl, 1::bigint as page, k as n, 'night-${night}' as run_id,
        (1000 * ${night} + k % 1000)::bigint as slot, timestamptz '2026-01-01 00:00:00+00' + interval (${night}) day as seen_at,
        ${groups
          .slice(1)
          .map(
            ({ name }) =>
              `${name === 'content' || name === 'token_info'} as carries_${name}, (1000 * ${night} + k % 1000)::bigint as ${name}_slot`,
          )
          .join(', ')},
        []::struct(column_name varchar, reason varchar, raw varchar)[] as cast_errors,
        ${own.map(({ name, type }) => `(${values[name] ?? 'null'})::${type} as "${name}"`).join(', ')}
      from named)
    select *, ${hashes.join(', ')} from shaped`;
}

async function stageNight(
  folder: DataFolder,
  night: number,
  count: number,
  changedPercent: number,
): Promise<void> {
  const database = await openDatabase(':memory:', { memoryLimit: '2GB', threads: 2, tempDir: folder.temp });
  await database.run(spec.ddl);
  await database.run(`create macro addr(x) as to_base64(unhex(md5(x::varchar) || md5(x::varchar || 'b')))`);
  const columns = await database.rows<{ name: string; type: string }>(
    `select column_name as name, data_type as type from duckdb_columns() where table_name = 'assets' order by column_index`,
  );
  for (let from = 0, segment = night * 1_000_000; from < count; from += rowsPerSegment, segment += 1) {
    const to = Math.min(from + rowsPerSegment, count);
    mkdirSync(join(folder.staging, String(segment)));
    await database.run(
      `copy (${stagedSql(columns, night, from, to, changedPercent)}) to '${stagingFile(folder, segment, 'assets')}' (compression zstd, compression_level 1, row_group_size 8192)`,
    );
    const line = {
      kind: 'page',
      task: 'bench',
      crawl: `night-${night}`,
      run: `night-${night}`,
      job: 'bench',
      target: '',
      operation: 'getAssetsByGroup',
      params: {},
      shape: 'asset',
      carries: [],
      page: from + 1,
      next: null,
      end: to === count ? 'exhausted' : null,
      slot: 1000 * night,
      records: to - from,
      longest: 0,
      last_slot: null,
      received_at: new Date().toISOString(),
      envelope: '{}',
    };
    writeFileSync(join(folder.landing, `${segment}.pages.ndjson`), `${JSON.stringify(line)}\n`);
  }
  database.close();
}

/** The child: publishes what is staged, prints its counts and its own peak. */
async function publishNight(folder: DataFolder, run: string): Promise<void> {
  const started = performance.now();
  const build = await openBuild(folder, { memoryLimit: option.memory, threads: 2, tempDir: folder.temp });
  const result = await publish(build, folder, {
    run,
    quarantineLimit: 0.01,
  });
  build.close();
  const peakMb = Math.round(
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024,
  );
  console.log(
    JSON.stringify({ seconds: (performance.now() - started) / 1000, peakMb, ...result.tables.assets }),
  );
}

/** What the table must hold after a night; throws when it does not. */
async function checkNight(
  database: Database,
  night: number,
  count: number,
  changedPercent: number,
): Promise<void> {
  const [row] = await database.rows<{ all: bigint; moved: bigint; changed: bigint }>(`
    select count(*) as all, count(*) filter (where slot // 1000 = ${night}) as moved, count(*) filter (where run_id = 'night-${night}') as changed
    from assets`);
  const expected = {
    all: rows,
    moved: count,
    changed: night === 1 ? rows : Math.round((count * changedPercent) / 100),
  };
  for (const [name, value] of Object.entries(expected)) {
    const found = Number(row![name as keyof typeof row]);
    if (Math.abs(found - value) > (name === 'changed' ? 1 : 0))
      throw new Error(`night ${night}: ${name} is ${found}, not ${value}`);
  }
}

if (option.publish !== undefined) {
  await publishNight(dataFolder(option.publish), option.run);
} else {
  const folder = dataFolder(mkdtempSync(join(option.dir, 'publish-bench-')));
  try {
    await makeDataFolder(folder);
    console.log(`${rows} assets, memory_limit ${option.memory}\n`);
    console.log(
      '| night | s | s per 1 M seen | peak RSS MB | file MB | inserted | changed | confirmed |\n|---|---|---|---|---|---|---|---|',
    );
    const nights: [string, string, number, number][] = [
      ['a', 'first load', rows, 0],
      ['b', 'all seen, 1 % changed', rows, 1],
      ['d', 'a tenth seen, none changed', rows / 10, 1],
      ['c', 'all seen, all changed', rows, 100],
    ];
    for (const [index, [key, title, count, changedPercent]] of nights.entries()) {
      if (!option.nights.includes(key)) continue;
      const night = index + 1;
      await stageNight(folder, night, count, changedPercent);
      const self = fileURLToPath(import.meta.url);
      const args = [
        '--import',
        'tsx',
        self,
        '--publish',
        folder.root,
        '--run',
        `night-${night}`,
        '--memory',
        option.memory,
      ];
      const told = JSON.parse(
        execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
      );
      const fileMb = Math.round(statSync(folder.build).size / 1e6);
      const perMillion = (told.seconds / count) * 1e6;
      console.log(
        `| ${key} ${title} | ${told.seconds.toFixed(1)} | ${perMillion.toFixed(1)} | ${told.peakMb} | ${fileMb} | ${told.inserted} | ${told.changed} | ${told.confirmed} |`,
      );
      const database = await openDatabase(folder.build, {
        memoryLimit: '1GB',
        threads: 2,
        tempDir: folder.temp,
        readOnly: true,
      });
      if (key !== 'd') await checkNight(database, night, count, changedPercent);
      database.close();
      for (const dir of [folder.staging, folder.landing]) {
        rmSync(dir, { recursive: true });
      }
      await makeDataFolder(folder);
    }
  } finally {
    rmSync(folder.root, { recursive: true, force: true });
  }
}
