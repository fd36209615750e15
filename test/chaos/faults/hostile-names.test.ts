import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { readText } from '../../support/documents.ts';
import { runProgram, startProgram } from '../../support/program.ts';
import { environmentOf, makeProject, type Project, writeFiles } from '../../support/project.ts';
import { openTinyWorld, writeListJob } from '../../support/small-world.ts';
import { readCheckpoints } from '../crash/content.ts';
import { expectFailure } from '../crash/failure.ts';
import { hostileArguments, hostileNames } from './hostile-names.ts';

/** What would be obeyed by a terminal, line ends left out. */
const controls = /[\p{Cc}\p{Bidi_Control}]/u;
const hasControls = (text: string) => text.split('\n').some((line) => controls.test(line));

async function listTables(path: string): Promise<string[]> {
  const database = await openDatabase(path, {
    memoryLimit: '256MB',
    threads: 1,
    tempDir: '',
    readOnly: true,
  });
  try {
    const names = await database.rows<{ name: string }>(
      `select format('{}.{}.{}', database_name, schema_name, table_name) as name from duckdb_tables() order by 1`,
    );
    return names.map(({ name }) => name);
  } finally {
    database.close();
  }
}

/** Files of a place that no run should have made: outside the data folder, or in it and not of its own kinds. */
function strayFiles({ root, data }: Project): string[] {
  const own =
    /^(landing|staging|archive|temp|incoming|replay)(\/[a-z0-9_.=-]+)*$|^lake(\/[a-z0-9_.=-]+)*$|^[a-z.]+\.(duckdb|json|ndjson|lock|id)$/i;
  const outside = readdirSync(root).filter((name) => !['data', 'jobs', 'ledgerlake.yaml'].includes(name));
  const inside = existsSync(data) ? readdirSync(data, { recursive: true, encoding: 'utf8' }) : [];
  const marked = ['/tmp/ledgerlake-marked', '/tmp/marked', '/marked', join(root, '..', 'marked')];
  return [
    ...outside,
    ...inside.filter((name) => !own.test(name)),
    ...marked.filter((path) => existsSync(path)),
  ];
}

async function writeHostileJob({ jobs }: Project, names: readonly string[]): Promise<void> {
  const values = names.map((name) => JSON.stringify(name)).join(',\n  ');
  const text = `describe: t\nmethod: getAssetsByGroup\nparams: { groupKey: family }\nfor_each: { groupValue: { values: [${values}] } }\n`;
  await writeFiles(jobs, { 'hostile.yaml': text });
}

test('500 hostile target names: each a target, none anything else', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 100);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const tables = await listTables(join(place.data, 'warehouse.duckdb'));

  const all = hostileNames();
  expect(all.length).toBe(500);
  const asked = sandbox.requests.length;
  await writeHostileJob(place, all);
  const refused = await runProgram(['run', 'hostile'], { cwd: place.root, env });
  expectFailure(refused, 2, /expected the bare value, without quotes/);
  expect(hasControls(refused.stderr)).toBe(false);
  expect(sandbox.requests.length).toBe(asked);

  // Quotes at the ends are refused as what a JSON or CSV file left; all others go through.
  const names = all.filter((name) => name === name.trim() && !/^["'`[{]|["'`,]$/.test(name));
  expect(names.length).toBeGreaterThan(300);
  await writeHostileJob(place, names);
  const ended = await runProgram(['run', 'hostile'], { cwd: place.root, env });
  expect(ended.code, ended.stderr).toBe(0);
  const checkpoints = await readCheckpoints(join(place.data, 'warehouse.duckdb'));
  const targets = checkpoints.filter(({ job }) => job === 'hostile').map(({ target }) => target as string);
  expect(targets.sort()).toEqual([...names].sort());
  expect(await listTables(join(place.data, 'warehouse.duckdb'))).toEqual(tables);

  for (const args of [
    ['status', 'hostile'],
    ['plan'],
    ['export'],
    ['sql', '--format', 'table', 'select target from meta.checkpoints'],
  ]) {
    const { code, stdout, stderr } = await runProgram(args, { cwd: place.root, env });
    expect(code, stderr).toBe(0);
    expect([args[0], hasControls(stdout), hasControls(stderr)]).toEqual([args[0], false, false]);
  }
  expect(strayFiles(place)).toEqual([]);
});

test('hostile names of tables and jobs on the command line: refused with a hint, and nothing is made', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 100);
  const env = environmentOf(sandbox);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const tables = await listTables(join(place.data, 'warehouse.duckdb'));
  const verbs = [['export'], ['tables'], ['run'], ['status']];
  const asked = hostileArguments
    .filter((text) => !text.startsWith('-'))
    .map((text, n) => [...verbs[n % 4]!, text]);
  for (const args of asked) {
    const ended = await runProgram(args, { cwd: place.root, env });
    expectFailure({ ...ended, stderr: ended.stderr.replace(/^\{"level.*\n/gm, '') }, 2, /./);
    expect([args, hasControls(ended.stderr)]).toEqual([args, false]);
    expect(ended.stdout).toBe('');
  }
  expect(await listTables(join(place.data, 'warehouse.duckdb'))).toEqual(tables);
  expect(strayFiles(place)).toEqual([]);
});

describe('job files', () => {
  const names = [
    '$(touch marked)',
    "'; drop table assets; --",
    '__proto__',
    'a b',
    'a\nb',
    '\u001b[2J',
    'é',
    '-rf',
  ];
  const check = async (checked: readonly string[]) => {
    const place = await makeProject();
    const text = 'describe: t\nmethod: getLatestCompressionSignatures\n';
    for (const name of checked) await writeFile(join(place.jobs, `${name}.yaml`), text);
    const ended = await runProgram(['jobs', 'check'], { cwd: place.root });
    expect(hasControls(ended.stderr + ended.stdout)).toBe(false);
    expect(existsSync(place.data)).toBe(false);
    return ended;
  };

  test('each of those that could be obeyed is refused', async () => {
    const ended = await check(names);
    expectFailure(ended, 2, /./);
    expect(ended.stderr.match(/\.yaml: (expected a name of|names that begin with) /g)).toHaveLength(
      names.length,
    );
  });

  test('a hidden one is none', async () => {
    expectFailure(await check(['..a']), 2, /./);
  });

  test('a long one is taken', async () => {
    expect((await check(['x'.repeat(200)])).code).toBe(0);
  });
});

/** Modes of everything in a data folder that is not snapshot or lake, `mode name` where others may read it. */
function openToOthers({ data }: Project): string[] {
  const shared = /^(lake(\/|$)|warehouse\.duckdb(\.tmp)?$)/;
  return listModes(data)
    .filter(([mode, name]) => !shared.test(name) && !mode.endsWith('00'))
    .map(([mode, name]) => `${mode} ${name}`);
}

/** Also while a run makes and removes them. */
function listModes(folder: string, below = ''): [mode: string, name: string, isFolder: boolean][] {
  let names: string[] = [];
  try {
    names = readdirSync(join(folder, below));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return names.flatMap((entry) => {
    const name = join(below, entry);
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return [];
    const isFolder = stat.isDirectory();
    return [[(stat.mode & 0o777).toString(8), name, isFolder], ...(isFolder ? listModes(folder, name) : [])];
  });
}

test('data are the owner’s alone, while a run is at work too; only snapshot and lake follow file_mode', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 20);
  const env = environmentOf(sandbox);
  const { child, ended } = startProgram(['run'], { cwd: place.root, env });
  const open = new Set<string>();
  const seen = new Set<string>();
  while (child.exitCode === null) {
    if (existsSync(place.data)) {
      for (const found of openToOthers(place)) open.add(found);
      for (const name of readdirSync(place.data)) seen.add(name);
    }
    await nextTurn();
  }
  expect((await ended).code).toBe(0);
  expect([...open]).toEqual([]);
  expect(seen).toContain('build.duckdb.wal');
  expect((await runProgram(['crawl'], { cwd: place.root, env })).code).toBe(0);
  expect(openToOthers(place)).toEqual([]);
  const shared = listModes(place.data).filter(([, name]) => /^lake(\/|$)|^warehouse\.duckdb$/.test(name));
  const modes = shared.map(
    ([mode, name, isFolder]) => `${name.split(/[/.]/)[0]} ${isFolder ? 'folder' : 'file'} ${mode}`,
  );
  expect([...new Set(modes)].sort()).toEqual(['lake file 640', 'lake folder 750', 'warehouse file 440']);
  expect(statSync(place.data).mode & 0o777).toBe(0o750);
  expect(readText('SECURITY.md')).toContain('the data folder itself is 0750');
});
