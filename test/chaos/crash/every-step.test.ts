import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bar, level, showFigure } from '../../bars.ts';
import { runProgram } from '../../support/program.ts';
import { writeFiles } from '../../support/project.ts';
import { openShortList } from '../../support/small-world.ts';
import { dieAt, type Image, type Loss, readSeen, recordSteps, type Seen, traceSteps } from './steps.ts';

/** A verb whose every step is a place to die: what is run before it, and after it until its work can be seen. */
interface Case {
  name: string;
  before: readonly (readonly string[])[];
  verb: readonly string[];
  after: readonly (readonly string[])[];
}

// The ledger moves before every `run` and `crawl` but the first.
const cases: readonly Case[] = [
  { name: 'a second night', before: [['run']], verb: ['run'], after: [] },
  { name: 'a first night', before: [], verb: ['run'], after: [] },
  { name: 'crawl', before: [['run']], verb: ['crawl'], after: [['publish']] },
  { name: 'load', before: [['run'], ['crawl']], verb: ['load'], after: [['publish']] },
  { name: 'publish', before: [['run'], ['crawl'], ['load']], verb: ['publish'], after: [] },
  {
    name: 'export',
    before: [['run'], ['crawl'], ['publish']],
    verb: ['export'],
    after: [],
  },
  { name: 'rebuild', before: [['run'], ['run']], verb: ['rebuild'], after: [] },
  {
    name: 'rebuild from the archive',
    before: [['run'], ['run']],
    verb: ['rebuild', '--from-archive'],
    after: [],
  },
  { name: 'reload', before: [['run'], ['run']], verb: ['reload'], after: [] },
  { name: 'clean', before: [['run'], ['run']], verb: ['clean'], after: [] },
];

/** What deaths take along; half of what was not synced in `make test-release` only. */
const losses: readonly Loss[] = level === 'release' ? ['kill', 'undone', 'torn'] : ['kill', 'undone'];

const chosen = cases.slice(0, bar('steps'));
/** Requests at once. */
const inFlight = 1;

const feed = `
describe: The newest signatures
method: getLatestCompressionSignatures
since: { pages: 1 }
page_size: 10
`;

type Scene = Awaited<ReturnType<typeof openShortList>>;

/** A place with a list of a few pages, and what a case wants to have been run before. */
async function openScene({ before, verb, name }: Case): Promise<Scene> {
  const scene = await openShortList();
  const { place } = scene;
  await writeFiles(place.root, {
    // Its newest page is asked for by every run, so nights are without: what they ask again is counted.
    ...(['run', 'crawl'].includes(verb[0]!) ? {} : { 'jobs/feed.yaml': feed }),
    'ledgerlake.yaml': `
api: { limits: { das: { rps: 1000, concurrency: 1 }, compression: { rps: 1000, concurrency: 1 } } }
lake: { tables: [${name === 'export' ? 'assets, assets_history, compression_signatures' : 'assets'}], keep: 1 }
${name === 'clean' ? 'warehouse: { keep_raw_days: 0 }' : ''}
`,
  });
  for (const [n, args] of before.entries()) {
    if (n > 0) move(scene, args);
    await mustRun(scene, args);
  }
  return scene;
}

/** Between two nights the ledger moves; what is run on a folder again finds it as it was. */
function move({ sandbox }: Scene, [verb]: readonly string[]): void {
  if (verb === 'run' || verb === 'crawl') sandbox.tick(5);
}

async function mustRun({ place, env }: Scene, args: readonly string[], folder?: string): Promise<void> {
  const where = folder === undefined ? [] : ['--data-dir', folder];
  const ended = await runProgram([...args, '--no-progress', ...where], { cwd: place.root, env });
  expect(ended.code, `${args} ${folder ?? ''}\n${ended.stderr}`).toBe(0);
}

/** Attempts that a data folder's request log has, of all runs or of the one that completed last. */
function countAttempts(data: string): number {
  const lines = readFileSync(join(data, 'requests.ndjson'), 'utf8').split('\n');
  return lines.filter((line) => line.includes('"outcome":"') && !line.includes('"saved"')).length;
}

interface Recorded extends Scene {
  case: Case;
  images: Image[];
  points: number;
  /** What readers found before the verb, after it, and when all was done. */
  seen: { before: Seen; after: Seen; done: Seen };
  /** When the API got each request of the verb, Unix ms. */
  asked: number[];
}

/** Runs a case's verb once, uninterrupted, and keeps what a death at every point of it would leave. */
async function record(one: Case): Promise<Recorded> {
  const scene = await openScene(one);
  const { place, sandbox, env } = scene;
  const before = await readSeen(place.data);
  if (one.before.length > 0) move(scene, one.verb);
  const from = sandbox.requests.length;
  const command = { place, env, args: [...one.verb, '--no-progress'] };
  const { ended, points, images } = await recordSteps(command, losses);
  expect(ended.code, ended.stderr).toBe(0);
  const asked = sandbox.requests.slice(from).map(({ at }) => at);
  const after = await readSeen(place.data);
  for (const args of one.after) await mustRun(scene, args);
  const done = await readSeen(place.data);
  expect(done.snapshot.length).toBeGreaterThan(10);
  return { ...scene, case: one, images, points: points.length, seen: { before, after, done }, asked };
}

/** What stands in a folder after a death there: readers find what was before or what comes after, and running it again ends well. */
async function goOn(recorded: Recorded, image: Image): Promise<void> {
  const { place, seen, asked } = recorded;
  const data = join(place.root, image.folder);
  const history = `${recorded.case.name}: ${image.loss} at ${image.point.n}, ${image.point.what}`;
  const left = await readSeen(data);
  expect([seen.before.snapshot, seen.after.snapshot], history).toContainEqual(left.snapshot);
  for (const table of new Set([...Object.keys(seen.before.lake), ...Object.keys(seen.after.lake)]))
    expect([seen.before.lake[table], seen.after.lake[table]], history).toContain(left.lake[table]);
  const wasComplete = /"exit_code":0[^\n]*\n$/.test(readRunLog(data));
  const attempts = image.loss === 'kill' ? countIfAny(data) : 0;
  for (const args of [recorded.case.verb, ...recorded.case.after])
    await mustRun(recorded, args, image.folder).catch((error) => {
      throw new Error(history, { cause: error });
    });
  expect(await readSeen(data), history).toEqual(seen.done);
  for (const folder of ['landing', 'staging'])
    expect(readdirSync(join(data, folder)), `${folder}, ${history}`).toEqual([]);
  if (image.loss === 'kill' && !wasComplete && asked.length > 0) {
    const before = asked.filter((at) => at <= image.point.at).length;
    const again = before + countAttempts(data) - attempts - asked.length;
    expect(again, `pages asked again, ${history}`).toBeLessThanOrEqual(inFlight);
  }
  rmSync(data, { recursive: true });
}

function readRunLog(data: string): string {
  return readdirSync(data).includes('runs.ndjson') ? readFileSync(join(data, 'runs.ndjson'), 'utf8') : '';
}

function countIfAny(data: string): number {
  return readdirSync(data).includes('requests.ndjson') ? countAttempts(data) : 0;
}

/** The first of each kind of step, without and with a power loss; all of them from `make test-daily` on. */
function chooseImages(images: readonly Image[]): readonly Image[] {
  if (level !== 'test') return images;
  const firsts = new Map<string, Image>();
  for (const image of images) {
    const kind = nameKind(image);
    if (kind !== null && !firsts.has(kind)) firsts.set(kind, image);
  }
  return [...firsts.values()];
}

/** What is done to which kind of file; null for progress, and for what a power loss does to DuckDB's files: nothing. */
function nameKind({ point: { what }, loss }: Image): string | null {
  const [verb = '', word = ''] = what.split(' ');
  if (what.includes('run.json') || (verb === 'duckdb' && loss !== 'kill')) return null;
  const deed = [/^(data)?sync/, /^(rename|rm|chmod|symlink)/].findIndex((one) => one.test(verb));
  const [path = ''] = what
    .replace(', half way', '')
    .split(/ -> | to | /)
    .slice(-1);
  const where = verb === 'duckdb' ? `${verb} ${word}` : path.split('/')[0];
  return [deed, where, what.endsWith('half way'), loss].join(' ');
}

test.for(chosen)(
  '$name: whatever step it dies at, readers see a whole state and running it again ends as if it never had',
  { timeout: 3_600_000 },
  async (one) => {
    const recorded = await record(one);
    const note = `${one.name}: ${recorded.points} points, ${recorded.images.length} different states`;
    console.log(`every-step.test.ts: ${note}`);
    for (const image of chooseImages(recorded.images)) await goOn(recorded, image);
    showFigure('steps', { done: 1, note });
  },
);

const deaths = bar('deaths');

test(
  `${deaths} of those deaths by a real SIGKILL: each leaves what was looked at, and running it again ends well`,
  async () => {
    const scene = await openScene(cases[0]!);
    const { place, env } = scene;
    move(scene, ['run']);
    const kept = join(place.root, 'kept');
    cpSync(place.data, kept, { recursive: true, verbatimSymlinks: true });
    const command = { place, env, args: ['run', '--no-progress'] };
    const { points } = await traceSteps(command);
    const done = await readSeen(place.data);
    const spread = Array.from(
      { length: deaths - 1 },
      (_, n) => 1 + Math.floor((n * points.length) / (deaths - 1)),
    );
    // In the middle of a statement of DuckDB, whose threads write on while the copy is made.
    const isUnderWay = (what: string) => what.endsWith('under way');
    for (const at of [points.find(({ what }) => /^duckdb commit.*under way/.test(what))!.n, ...spread]) {
      rmSync(place.data, { recursive: true });
      cpSync(kept, place.data, { recursive: true, verbatimSymlinks: true });
      const { ended, point, isAsShown } = await dieAt(command, at);
      const history = `SIGKILL at ${at}, ${point?.what}`;
      expect({ signal: ended.signal, code: ended.code }, history).toEqual(
        point === null ? { signal: null, code: 0 } : { signal: 'SIGKILL', code: null },
      );
      if (point !== null && !isUnderWay(point.what)) expect(isAsShown, history).toBe(true);
      await mustRun(scene, ['run']);
      expect(await readSeen(place.data), history).toEqual(done);
    }
    showFigure('deaths', { done: deaths });
  },
  300_000 + deaths * 20_000,
);
