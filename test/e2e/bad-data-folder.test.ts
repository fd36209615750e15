import { existsSync } from 'node:fs';
import {
  appendFile,
  chmod,
  chown,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/warehouse/database.ts';
import { expectFailure, hashFile } from '../chaos/crash/failure.ts';
import { daily } from '../levels.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf, makeProject, writeFiles } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';

test.each(['load', 'publish', 'reload', 'rebuild', 'clean'])(
  '%s without a data folder: 2, and none is made',
  async (verb) => {
    const place = await makeProject();
    expectFailure(
      await runProgram([verb], { cwd: place.root }),
      2,
      /there is no data folder [\s\S]*--data-dir/,
    );
    expect(existsSync(place.data)).toBe(false);
  },
);

test('no output goes onto a file of the data folder, and no job of another folder takes the name of one: 2', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const cli = (...args: string[]) => runProgram(args, { cwd: place.root, env: environmentOf(sandbox) });
  expect((await cli('run')).code).toBe(0);
  const [snapshot, build] = ['warehouse.duckdb', 'build.duckdb'].map((name) => join(place.data, name));
  const before = [hashFile(snapshot!), hashFile(build!)];
  const { length } = sandbox.requests;
  // By another name of the folder, too.
  await symlink(place.data, join(place.root, 'elsewhere'));
  const outputs = [
    ['sql', 'select 1', '-o', snapshot!],
    ['sql', 'select 1', '-o', 'elsewhere/warehouse.duckdb'],
    ['report', '-o', snapshot!],
    ['run', '--metrics-file', 'elsewhere/build.duckdb'],
  ];
  for (const args of outputs) expectFailure(await cli(...args), 2, /is in the data folder/);
  await writeFiles(place.root, { 'ledgerlake.yaml': 'lake: { uri: data/archive }\n' });
  for (const verb of ['run', 'export'])
    expectFailure(await cli(verb), 2, /lake\.uri: .* is in the data folder/);

  await rm(join(place.root, 'ledgerlake.yaml'));
  await cp(place.jobs, join(place.root, 'copied'), { recursive: true });
  expectFailure(await cli('run', '--jobs-dir', 'copied'), 2, /has a job list already, of .*jobs\/list\.yaml/);
  expect([hashFile(snapshot!), hashFile(build!)]).toEqual(before);
  expect(sandbox.requests.length).toBe(length);
  // A folder that moved is the same one.
  await rename(place.jobs, join(place.root, 'moved'));
  expect((await cli('run', '--jobs-dir', 'moved')).code).toBe(0);
});

describe('a data folder', () => {
  daily('below a file: 74', async () => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    await writeFile(join(place.root, 'file'), '');
    const ended = await runProgram(['run', '--data-dir', 'file/data'], {
      cwd: place.root,
      env: environmentOf(sandbox),
    });
    expectFailure(ended, 74, /cannot write the data folder file\/data[\s\S]*--data-dir/);
    expect(sandbox.requests).toEqual([]);
  });

  test.each(['run.lock', 'build.duckdb', 'requests.ndjson'])(
    'with a folder in the place of %s: 74',
    async (name) => {
      const { sandbox, place } = await openTinyWorld();
      await writeListJob(place, sandbox);
      await mkdir(join(place.data, name), { recursive: true });
      const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
      expectFailure(ended, 74, new RegExp(name.replace('.', '\\.')));
      expect(sandbox.requests).toEqual([]);
    },
  );

  test('of another user: 74 with the path, and no word of space', async () => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    expect((await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) })).code).toBe(0);
    // Root may read everything: then somebody else asks.
    const isRoot = process.getuid?.() === 0;
    const other = { cwd: place.root, ...(isRoot ? { uid: 65_534 } : {}) };
    await chmod(place.root, 0o755);
    await chmod(place.data, 0o755);
    for (const name of ['landing', 'runs.ndjson', 'requests.ndjson', 'warehouse.duckdb'])
      await chmod(join(place.data, name), 0);
    for (const args of [['status'], ['runs'], ['plan'], ['sql', 'select 1']]) {
      const ended = await runProgram(args, other);
      expectFailure(
        ended,
        74,
        /data\/\S+ may not be read or written by this user \(EACCES\)\n {2}Run it as the user/,
      );
      expect(ended.stderr).not.toContain('space');
    }
  });

  test.each(['.', 'landing'])(
    'that may not be written to (%s): 74 before anything is asked',
    async (name) => {
      const { sandbox, place } = await openTinyWorld();
      await writeListJob(place, sandbox);
      const env = environmentOf(sandbox);
      expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
      const asked = sandbox.requests.length;
      await chmod(place.root, 0o755);
      const isRoot = process.getuid?.() === 0;
      if (isRoot)
        for (const path of await readdir(place.data, { recursive: true }))
          await chown(join(place.data, path), 65_534, 65_534);
      if (isRoot) await chown(place.data, 65_534, 65_534);
      await chmod(join(place.data, name), 0o500);
      const ended = await runProgram(['run'], { cwd: place.root, env, ...(isRoot ? { uid: 65_534 } : {}) });
      await chmod(join(place.data, name), 0o700);
      expectFailure(ended, 74, /cannot write the data folder \S+ \(EACCES\)/);
      expect(sandbox.requests).toHaveLength(asked);
    },
  );

  daily('with a file in the place of a folder: 74 with the path', async () => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    expect((await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) })).code).toBe(0);
    const landing = join(place.data, 'landing');
    await rm(landing, { recursive: true });
    await writeFile(landing, '');
    const ended = await runProgram(['status'], { cwd: place.root });
    expectFailure(
      ended,
      74,
      /data\/landing cannot be read or written: .* is not a folder \(ENOTDIR\)\n {2}Name/,
    );
  });

  daily(
    'with a damaged file in the archive: a rebuild ends with 74 and its name; moved away, the runs go on',
    async () => {
      const { sandbox, place } = await openTinyWorld();
      await writeListJob(place, sandbox);
      const run = () => runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
      expect((await run()).code).toBe(0);
      const archive = join(place.data, 'archive');
      const name = (await readdir(archive)).find((file) => file.endsWith('.pages.parquet'))!;
      await writeFile(join(archive, name), Buffer.alloc(5000));
      // A night does not read what is archived; what does, names the file.
      const rebuilt = await runProgram(['rebuild', '--from-archive'], { cwd: place.root });
      expectFailure(rebuilt, 74, new RegExp(`${name} is damaged: [\\s\\S]*move it away`));
      await rm(join(archive, name));
      expect((await run()).code).toBe(0);
    },
  );

  test('of another origin: 2, unchanged; without the environment too', async () => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    expect((await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) })).code).toBe(0);
    const files = ['build.duckdb', 'warehouse.duckdb', 'runs.ndjson', 'requests.ndjson'];
    const hashes = () => files.map((name) => hashFile(join(place.data, name)));
    const before = hashes();
    const other = (await openTinyWorld()).sandbox;
    const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(other) });
    expectFailure(ended, 2, new RegExp(`holds data of ${sandbox.url}, but the run would ask ${other.url}`));
    expect(other.requests).toEqual([]);
    const lost = await runProgram(['run'], { cwd: place.root });
    expect(lost.code).toBe(2);
    expect(lost.stderr).toContain('no URL of an API is set');
    const sample = await runProgram(['run', '--sample'], { cwd: place.root });
    expect(sample.code).toBe(2);
    expect(sample.stderr).toMatch(
      /SAMPLE DATA[\s\S]*holds data of \S+, but the run would ask the sample API/,
    );
    expect(hashes()).toEqual(before);
  });

  test('of another version: 2, unchanged', async () => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    expect((await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) })).code).toBe(0);
    const build = join(place.data, 'build.duckdb');
    const database = await openDatabase(build, { memoryLimit: '64MB', threads: 1, tempDir: place.root });
    await database.run('insert into meta.schema_version (version) values (99)');
    database.close();
    const before = hashFile(build);
    const asked = sandbox.requests.length;
    for (const verb of ['run', 'load', 'publish'])
      expectFailure(
        await runProgram([verb], { cwd: place.root, env: environmentOf(sandbox) }),
        2,
        /layout 99/,
      );
    expect(hashFile(build)).toBe(before);
    expect(sandbox.requests.length).toBe(asked);
  });

  daily(
    'with lines in requests.ndjson that are none: the run goes on, what they cost is not counted',
    async () => {
      const { sandbox, place } = await openTinyWorld();
      await writeListJob(place, sandbox);
      const env = environmentOf(sandbox);
      expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
      await appendFile(join(place.data, 'requests.ndjson'), '\n\x02\x80 no line\n[1]\n');
      const ended = await runProgram(['run'], { cwd: place.root, env });
      expect(ended.code, ended.stderr).toBe(0);
      const { code, stderr } = await runProgram(['status'], { cwd: place.root, env });
      expect(code, stderr).toBe(0);
    },
  );

  test.each(['flipped', 'gone'])(
    'with a landed file %s after its rows were made: 74, and how to go on',
    async (damage) => {
      const { sandbox, place } = await openTinyWorld();
      await writeListJob(place, sandbox);
      const env = environmentOf(sandbox);
      for (const verb of ['crawl', 'load'])
        expect((await runProgram([verb], { cwd: place.root, env })).code).toBe(0);
      const landing = join(place.data, 'landing');
      const [name] = (await readdir(landing)).filter((file) => /^\d+\.ndjson$/.test(file));
      const bytes = await readFile(join(landing, name!));
      bytes[bytes.length >> 1]! ^= 1;
      if (damage === 'gone') await rm(join(landing, name!));
      else await writeFile(join(landing, name!), bytes);
      const message =
        /\d+\.pages\.ndjson, line \d+, is damaged: its page's records in \d+\.ndjson are not [\s\S]*doctor --repair/;
      for (let night = 0; night < 2; night += 1)
        expectFailure(await runProgram(['publish'], { cwd: place.root, env }), 74, message);
      expect((await runProgram(['doctor', '--repair'], { cwd: place.root, env })).code).toBe(0);
      const ended = await runProgram(['run'], { cwd: place.root, env });
      expect(ended.code, ended.stderr).toBe(0);
      const counted = await runProgram(
        ['sql', '--format', 'csv', 'select count(*) > 100 as enough from assets'],
        {
          cwd: place.root,
          env,
        },
      );
      expect(counted.stdout).toBe('enough\ntrue\n');
    },
  );
});
