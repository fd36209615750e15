import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import { type ExpectedTables, expectTables } from '../../e2e/ledger-oracle.ts';
import { differences, readQuarantine, readTable } from '../../e2e/table-rows.ts';
import { type Ended, startProgram } from '../../support/program.ts';
import { makeProject, type Project, writeFiles } from '../../support/project.ts';
import { readRows } from '../../support/rows.ts';
import { startFaultProxy } from './proxy.ts';
import { scanText } from './scan.ts';
import { type Cell, planCell, readScript, type Script } from './stages.ts';

/** A key with characters that have other spellings; the sandbox must be told of it. */
export const canary = 'canary-9d2f/7b+1==';

/** After so long a run hangs; half a minute it may wait for a server that refuses every connection. */
const hangsAfterMs = 90_000;

const jobs = {
  'jobs/lists.yaml': `
describe: Every asset of every collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { file: collections.txt } }
page_size: 20
`,
  'jobs/signatures.yaml': `
describe: Every signature
method: getLatestCompressionSignatures
since: all
page_size: 100
`,
  'jobs/content.yaml': `
describe: The content that lists leave out
method: getAssetBatch
after: [lists]
for_each: { ids: { sql: select id from assets where content_seen_at is null order by id } }
page_size: 15
`,
};

/** A ledger that stands still, what a run over it asks for, and what the tables hold after it. */
export interface Ledger {
  sandbox: Sandbox;
  script: Script;
  expected: ExpectedTables;
}

/** Runs once undisturbed. @throws where even that does not bring what the ledger says */
export async function readLedger(sandbox: Sandbox): Promise<Ledger> {
  const expected = expectTables(sandbox.world.truth());
  const place = await makeLedgerPlace(sandbox);
  const proxy = await startFaultProxy(sandbox.url, {
    answer: async () => null,
    afterAnswer: async () => null,
  });
  const { code, stderr } = await startRun(place, proxy.url, 'patient.yaml').ended;
  await proxy.close();
  const wrong = code === 0 ? await compareWithLedger(place, expected) : [stderr];
  if (wrong.length > 0) throw new Error(`an undisturbed run: ${wrong.join('; ')}`);
  return { sandbox, expected, script: readScript(proxy.asked) };
}

/** What became of a cell: how the run that met the fault ended, and everything that is wrong with it or the next. */
export interface CellResult {
  code: number | null;
  wrong: string[];
}

/** Runs into the fault; then, where that did not end with 0, once more without it. */
export async function runCell(cell: Cell, { sandbox, script, expected }: Ledger): Promise<CellResult> {
  const place = await makeLedgerPlace(sandbox);
  let terminate = () => {};
  const proxy = await startFaultProxy(
    sandbox.url,
    planCell(cell, script, () => terminate()),
  );
  try {
    const run = startRun(place, proxy.url, cell.fault.timesOut ? 'hasty.yaml' : 'patient.yaml');
    terminate = () => run.child.kill('SIGTERM');
    const ended = await run.ended;
    const wrong = judgeEnd(ended, cell);
    if (ended.code === 0) wrong.push(...(await compareWithLedger(place, expected)));
    else if (wrong.length === 0) {
      await proxy.heal();
      wrong.push(...(await runAgain(place, proxy.url, expected)));
    }
    return { code: ended.code, wrong };
  } finally {
    await proxy.close();
    await rm(place.root, { recursive: true });
  }
}

async function runAgain(place: Project, url: string, expected: ExpectedTables): Promise<string[]> {
  const { code, stderr } = await startRun(place, url, 'patient.yaml').ended;
  const wrong = code === 0 ? await compareWithLedger(place, expected) : [`it ended with ${code}: ${stderr}`];
  return wrong.map((line) => `the next run: ${line}`);
}

async function makeLedgerPlace({ world }: Sandbox): Promise<Project> {
  const place = await makeProject();
  const config = (seconds: number) => `
api: {timeout_s: ${seconds}, limits: {das: {rps: 5000, burst: 200}, compression: {rps: 5000, burst: 200}}}
warehouse: {threads: 1}
lake: {tables: [assets, compression_signatures]}
`;
  await writeFiles(place.root, {
    ...jobs,
    'jobs/collections.txt': world.truth().collections().join('\n'),
    // Long enough that a good answer is in time on a busy machine: where it is the last attempt, nothing else helps.
    'hasty.yaml': config(3),
    'patient.yaml': config(30),
  });
  return place;
}

/** Makes every retry wait nearly as long as it may: a port closed for 100 ms must be open before the last attempt. */
const longJitter = `--import=data:text/javascript,${encodeURIComponent(
  'const { random } = Math; Math.random = () => 0.9 + random() / 10;',
)}`;

function startRun(place: Project, url: string, config: string) {
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: canary, NODE_OPTIONS: longJitter };
  const run = startProgram(['run', '--config', config, '--log-level', 'warn'], { cwd: place.root, env });
  const timer = setTimeout(() => run.child.kill('SIGKILL'), hangsAfterMs);
  void run.ended.finally(() => clearTimeout(timer));
  return run;
}

/** What is wrong with the end of a run that met a fault: a hang, a code that says nothing, no word of what it was. */
function judgeEnd({ code, stdout, stderr }: Ended, { fault, stage, passes }: Cell): string[] {
  if (code === null) return ['it hung', stdout, stderr];
  const keys = [canary, encodeURIComponent(canary), Buffer.from(canary).toString('base64')];
  const wrong = scanText(stdout + stderr, keys).map(() => 'it printed the key');
  if (code === 0) return wrong;
  if (![3, 4, 69, 74, 75, 77].includes(code)) wrong.push(`exit ${code} is no answer to a fault`);
  const takesLastAttempt = fault.lasts === true && stage === 'retry of a retry';
  const allowed = takesLastAttempt ? [...fault.once, 3] : fault.once;
  if (passes && stage !== 'shutdown' && !allowed.includes(code)) wrong.push('it should have been survived');
  if (stage === 'export') wrong.push('nothing was asked any more, and yet it failed');
  const output = code === 3 || code === 4 ? `${stdout}${stderr}` : stderr;
  if (!/^ledgerlake: .+\n {2}\S/m.test(stderr) && code !== 3 && code !== 4)
    wrong.push('it does not print why');
  if (/unexpected|This is a bug|\n\s+at /.test(output)) wrong.push('it does not name the cause');
  return wrong.length === 0 ? [] : [...wrong, `it ended with ${code}`, stdout, stderr];
}

/** Every way in which the tables and the lake are not what the ledger says. */
async function compareWithLedger({ data }: Project, expected: ExpectedTables): Promise<string[]> {
  const rows = <T>(sql: string) => readRows<T>(join(data, 'warehouse.duckdb'), sql);
  const wrong = [
    ...differences(expected.assets, await readTable({ rows }, 'assets', 'id')),
    ...differences(expected.signatures, await readTable({ rows }, 'compression_signatures', 'signature')),
  ];
  const ofAssets = (entries: readonly string[]) => entries.filter((entry) => entry.startsWith('assets '));
  if (`${await readQuarantine({ rows })}` !== `${ofAssets(expected.quarantine)}`)
    wrong.push('the quarantine');
  for (const table of ['assets', 'compression_signatures']) {
    const lake = `read_parquet('${data}/lake/${table}/*.parquet')`;
    const [row] = await rows<{ same: boolean }>(
      `select (select md5(string_agg(record_hash, '' order by record_hash)) from ${lake})
        = (select md5(string_agg(record_hash, '' order by record_hash)) from ${table}) as same`,
    );
    if (row?.same !== true) wrong.push(`the lake's ${table}`);
  }
  return wrong;
}
