import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { compareEverything } from '../chaos/crash/content.ts';
import { daily } from '../levels.ts';
import { type Ended, runProgram, startProgram } from '../support/program.ts';
import {
  copyProject,
  environmentOf,
  makeLastingProject,
  makeProject,
  type Project,
  removeProject,
  writeFiles,
} from '../support/project.ts';
import { readRows } from '../support/rows.ts';
import {
  exportOnly,
  openTinyWorld,
  startSmallWorld,
  writeJobs,
  writeListJob,
} from '../support/small-world.ts';
import { type Change, makeProgram } from './other-mapping.ts';

vi.setConfig({ testTimeout: 400_000 });

const snapshotOf = ({ data }: Project) => join(data, 'warehouse.duckdb');

/** Three nights by the program as it is: tests copy them. */
let nights: Project;
beforeAll(async () => {
  nights = await makeLastingProject();
  await makeNights(nights);
  return () => removeProject(nights);
});

/** Three nights by a program. @returns exit codes */
async function makeNights(place: Project, program?: string): Promise<(number | null)[]> {
  const sandbox = await startSmallWorld(5, { assets: 160, owners: 16, latencyMs: 0 });
  await writeJobs(place, sandbox, 1);
  await exportOnly(place, 'webhooks');
  const codes: (number | null)[] = [];
  for (let night = 0; night < 3; night += 1) {
    const ended = await run(['run', '--log-level', 'warn'], place, program, environmentOf(sandbox));
    expect([0, 4], ended.stderr).toContain(ended.code);
    codes.push(ended.code);
    sandbox.tick(8);
  }
  await sandbox.close();
  return codes;
}

function run(args: string[], place: Project, program?: string, env = {}): Promise<Ended> {
  return runProgram(args, { cwd: place.root, env, ...(program === undefined ? {} : { program }) });
}

async function mustReload(place: Project, program?: string, ...tables: string[]) {
  const ended = await run(['reload', ...tables, '--json', '--log-level', 'warn'], place, program);
  expect(ended.code, ended.stderr).toBe(0);
  return JSON.parse(ended.stdout) as {
    segments: number;
    amended: Record<string, number>;
    tables: Record<string, { inserted: number; changed: number }>;
  };
}

const loud: Change[] = [
  ['tables/assets.sql', '<- content.metadata.name ', '= upper(r.content.metadata.name) '],
  ['tables/token_accounts.sql', '<- mint ', '= lower(r.mint) '],
  ['tables/compression_signatures.sql', '<- blockTime ', "= as_time(r.blockTime) + interval '1 hour' "],
];
/** A difference in what is current: not in former versions, nor in what is still to be looked up. */
const isCurrent = (difference: string) => !/^(past|meta\.absent)\./.test(difference);
const writtenAt = ['meta.segments.published_at'];
/** What says that another mapping made the rows. */
const mapping = 'meta.mappings.digest';

test('rows change in place, former versions too, and back again; a second reload changes nothing', async () => {
  const place = await copyProject(nights);
  const before = nights;
  const versions = await readRows<{ n: string }>(snapshotOf(place), 'select count(*) as n from past.assets');
  expect(Number(versions[0]?.n)).toBeGreaterThan(10);
  const one = await mustReload(place, await makeProgram(loud.slice(0, 1)), 'assets');
  expect(one.amended.assets).toBeGreaterThan(160);
  expect(one.tables.assets).toMatchObject({ inserted: 0, changed: 0 });
  const wrong = `select count(*) as n from assets_history where name is distinct from upper(name)`;
  expect(await readRows(snapshotOf(place), wrong)).toEqual([{ n: '0' }]);
  const touched = ['name', 'content_hash', 'record_hash'].flatMap((column) => [
    `main.assets.${column}`,
    `past.assets.${column}`,
  ]);
  const differences = await compareEverything(snapshotOf(before), snapshotOf(place), [
    ...[...writtenAt, mapping],
    ...touched,
  ]);
  expect(differences).toEqual([]);

  const other = await makeProgram(loud);
  const all = await mustReload(place, other);
  expect(all.amended).toMatchObject({
    assets: 0,
    token_accounts: expect.any(Number),
    compression_signatures: expect.any(Number),
  });
  expect(all.amended.token_accounts).toBeGreaterThan(0);
  expect(all.amended.compression_signatures).toBeGreaterThan(0);
  const again = await mustReload(place, other);
  expect(Object.values(again.amended).every((n) => n === 0)).toBe(true);

  await mustReload(place);
  expect(await compareEverything(snapshotOf(before), snapshotOf(place), writtenAt)).toEqual([]);
});

daily(
  'what a mapping refused comes in with the next: rows, versions, and crawls that were not published',
  async () => {
    // Half of all ids are no ids to it: most records of a list are quarantined, and large lists are refused.
    const strict = await makeProgram([
      ['tables/assets.sql', '-- usable: is_address(r.id)', "-- usable: is_address(r.id) and r.id < 'A'"],
      ['tables/token_accounts.sql', '<- owner ', '= lower(r.owner) '],
    ]);
    const place = await makeProject();
    const codes = await makeNights(place, strict);
    expect(codes).toContain(4);
    const count = async () => {
      const [row] = await readRows<Record<string, string>>(
        snapshotOf(place),
        `select (select count(*) from assets) as assets, (select count(*) from meta.quarantine) as quarantined,
        (select count(*) from meta.checkpoints where state = 'failed') as failed`,
      );
      return Object.fromEntries(Object.entries(row!).map(([name, n]) => [name, Number(n)]));
    };
    const before = await count();
    expect(before.quarantined).toBeGreaterThan(10);
    expect(before.failed).toBeGreaterThan(0);
    await mustReload(place);
    const after = await count();
    // A few records of the sample ledger fit no mapping.
    expect(after.failed).toBe(0);
    expect(after.quarantined).toBeLessThan(before.quarantined! / 4);
    expect(after.assets).toBeGreaterThan(before.assets! * 2);

    // The archive says the same of what is current when everything in it is applied anew; versions that the former
    // mapping made, or did not see, stay as they are.
    const rebuilt = await copyProject(place);
    const ended = await runProgram(['rebuild', '--from-archive'], { cwd: rebuilt.root });
    expect(ended.code, ended.stderr).toBe(0);
    const versions = ['first_seen_slot', 'changed_slot', 'changed_at', 'run_id'];
    const changes = ['assets', 'token_accounts'].flatMap((table) =>
      versions.map((column) => `main.${table}.${column}`),
    );
    const different = await compareEverything(snapshotOf(rebuilt), snapshotOf(place), [
      ...writtenAt,
      ...changes,
    ]);
    expect(different.filter(isCurrent)).toEqual([]);
  },
);

daily(
  'a run with another mapping makes what is there again first: a version is a change of the ledger',
  async () => {
    const place = await makeProject();
    const sandbox = await startSmallWorld(6, { assets: 60, owners: 10, latencyMs: 0 });
    onTestFinished(() => sandbox.close());
    await writeJobs(place, sandbox, 1);
    await exportOnly(place, 'webhooks');
    const night = async (program?: string) => {
      const ended = await run(['run', '--log-level', 'warn'], place, program, environmentOf(sandbox));
      expect(ended.code, ended.stderr).toBe(0);
      return ended.stderr;
    };
    const versions = () =>
      readRows<{ n: string; loud: string }>(
        snapshotOf(place),
        'select count(*) as n, count(*) filter (name = upper(name)) as loud from assets_history where name is not null',
      );
    await night();
    const [before] = await versions();
    expect(Number(before!.loud)).toBeLessThan(Number(before!.n) / 2);
    const other = await makeProgram(loud);
    expect(await night(other)).toMatch(
      /"shapes":\["asset","signature","token_account"\][^\n]*rebuilding its rows/,
    );
    expect(await versions()).toEqual([{ n: before!.n, loud: before!.n }]);
    // Once: nothing has changed since.
    expect(await night(other)).not.toContain('rebuilding');
  },
);

daily('a mapping that changed before the first record of its shape came made none of the rows', async () => {
  const { sandbox, place } = await openTinyWorld({ assets: 30, owners: 4 });
  await writeListJob(place, sandbox, 200);
  const night = async (program?: string) => {
    const ended = await run(['run', '--log-level', 'warn'], place, program, environmentOf(sandbox));
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stderr;
  };
  await night();
  const other = await makeProgram(loud.slice(1, 2));
  const [owner = ''] = sandbox.world.truth().owners();
  await writeFiles(place.jobs, {
    'owned.yaml': `describe: test\nmethod: getTokenAccounts\nparams: { owner: ${owner} }\n`,
  });
  await night(other);
  expect(await night(other)).not.toContain('rebuilding');
});

daily('an incremental crawl with another mapping still knows the rows', async () => {
  const { sandbox, place } = await openTinyWorld();
  const [collection = ''] = sandbox.world.truth().collections();
  await writeFiles(place.jobs, {
    'list.yaml': `
describe: test
method: getAssetsByGroup
mode: incremental
params: { groupKey: collection, groupValue: ${collection} }
page_size: 5
`,
  });
  const count = async (verb: string, program?: string) => {
    const before = sandbox.requests.length;
    const ended = await run([verb], place, program, environmentOf(sandbox));
    expect(ended.code, ended.stderr).toBe(0);
    return sandbox.requests.length - before;
  };
  expect(await count('run')).toBeGreaterThan(5);
  expect(await count('run')).toBe(1);
  expect(await count('crawl', await makeProgram(loud.slice(0, 1)))).toBe(1);
});

daily('a build that is rebuilt with another mapping: what it begins with is rebuilt first', async () => {
  const { sandbox, place } = await openTinyWorld({ assets: 60, owners: 10 });
  await writeListJob(place, sandbox, 200);
  const env = environmentOf(sandbox);
  expect((await run(['run'], place, undefined, env)).code).toBe(0);
  expect((await run(['crawl'], place, undefined, env)).code).toBe(0);
  await rm(join(place.data, 'build.duckdb'));
  const repaired = await run(['run'], place, await makeProgram(loud.slice(0, 1)), env);
  expect(repaired.code, repaired.stderr).toBe(0);
  expect(
    await readRows(snapshotOf(place), 'select count(*) = count(distinct id) as same from assets_history'),
  ).toEqual([{ same: true }]);
});

daily('a reload that was killed is run again', async () => {
  const place = await copyProject(nights);
  const before = nights;
  const other = await makeProgram(loud);
  for (const msg of ['"msg":"reloaded"', '"reason"']) {
    const started = startProgram(['reload'], { cwd: place.root, program: other });
    started.child.stderr?.on('data', () => started.stderr().includes(msg) && started.child.kill('SIGKILL'));
    await started.ended;
  }
  await mustReload(place);
  expect(await compareEverything(snapshotOf(before), snapshotOf(place), writtenAt)).toEqual([]);
});

test('a table there is none of is refused', async () => {
  const place = await makeProject();
  await mkdir(place.data);
  const ended = await runProgram(['reload', 'asets'], { cwd: place.root });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no table asets') });
});
