import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openPlace } from '../../bench/place.ts';
import { listTargets, type Target } from '../../bench/records.ts';
import { startServer } from '../../bench/start-server.ts';
import { bar, level, showFigure } from '../bars.ts';
import { skipWithout } from '../support/needs.ts';

vi.setConfig({ testTimeout: 300_000 + bar('records') });

const records = bar('records');
const limitMb = 512;
/** Files and sockets, however many records there are. */
const limitOpen = 128;

/** Half assets of 2 KB, half token accounts; of each some long lists, and 200 of five records. @param from a number that no other list has */
function chooseTargets(from: number, size: number): Target[] {
  const [long, short] = [5, 200];
  const records = Math.floor((size / 2 - short * 5) / long);
  return (['asset', 'token_account'] as const).flatMap((kind) => [
    ...listTargets(kind, from, from + long, records),
    ...listTargets(kind, from + long, from + long + short, 5),
  ]);
}

const sizes = { small: records / 4, large: records };
const targets = { small: chooseTargets(0, sizes.small), large: chooseTargets(1000, sizes.large) };
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer([...targets.small, ...targets.large]);
});
afterAll(() => server.close());

/** A first night. @returns MB resident at most, and how many files and sockets were open at most */
async function crawl(size: keyof typeof sizes, onStart?: (pid: number) => void) {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerlake-bounded-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const place = openPlace(dir, server.url, { lake: true });
  for (const kind of ['asset', 'token_account'])
    place.addJob(
      `${kind}s`,
      targets[size].filter((target) => target.kind === kind),
    );
  let open = 0;
  const onSample = (pid: number) => {
    open = Math.max(open, countOpen(pid));
  };
  const { peakMb } = await place.watch(
    { onSample, ...(onStart && { onStart }) },
    'run',
    '--log-level',
    'warn',
  );
  const counted = await place.cli(
    'sql',
    '--format',
    'csv',
    'select (select count(*) from assets) + (select count(*) from token_accounts) as n',
  );
  expect(counted.stdout).toBe(`n\n${sizes[size]}\n`);
  place.remove();
  return { peakMb, open };
}

function countOpen(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** A memory cgroup of this size, where this user may make one; null elsewhere. */
function makeCgroup(megabytes: number): { add(pid: number): void; peakMb(): number; remove(): void } | null {
  for (const [root, file, peak] of [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes', 'memory.max_usage_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max', 'memory.peak'],
  ] as const) {
    const dir = join(root, `ledgerlake-${process.pid}`);
    try {
      mkdirSync(dir);
      if (!existsSync(join(dir, file))) {
        rmdirSync(dir);
        continue;
      }
      writeFileSync(join(dir, file), String(megabytes * 1024 * 1024));
      return {
        add: (pid) => writeFileSync(join(dir, 'cgroup.procs'), String(pid)),
        peakMb: () => Number(readFileSync(join(dir, peak), 'utf8')) / 1024 / 1024,
        remove: () => rmdirSync(dir),
      };
    } catch {}
  }
  return null;
}

const cgroup = makeCgroup(limitMb);
afterAll(() => cgroup?.remove());

/** The small crawl, once for both tests, inside the cgroup where there is one. */
let small: ReturnType<typeof crawl> | undefined;
const crawlSmall = () => {
  small ??= crawl('small', cgroup?.add);
  return small;
};

test(`${records} records into the tables, the snapshot and the lake: at most ${limitMb} MB and ${limitOpen} files`, async () => {
  const former = await crawlSmall();
  const large = await crawl('large');
  const slope = (large.peakMb - former.peakMb) / ((sizes.large - sizes.small) / 100_000);
  const note = `at most ${Math.max(former.peakMb, large.peakMb).toFixed(0)} MB, ${slope.toFixed(1)} MB more for each 100,000 records, at most ${large.open} files and sockets`;
  console.log(`bounded.test.ts: ${note}`);
  expect(large.peakMb, note).toBeLessThanOrEqual(limitMb);
  expect(Math.max(former.open, large.open), note).toBeLessThanOrEqual(limitOpen);
  // Of few records it says how warm the process was, not how it grows.
  if (level === 'release') expect(slope, note).toBeLessThanOrEqual(5);
  showFigure('records', { done: records, note });
});

test(`inside a memory cgroup of ${limitMb} MB a run ends well`, async (context) => {
  skipWithout(context, 'cgroup', cgroup !== null);
  const { peakMb } = await crawlSmall();
  // It was the cgroup that bounded it: its peak counts cached files, too.
  expect(cgroup!.peakMb()).toBeGreaterThan(peakMb / 2);
  expect(cgroup!.peakMb()).toBeLessThanOrEqual(limitMb);
});

test('what is planned and does not run takes little: 200,000 targets fit', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerlake-planned-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const peakOf = async (count: number) => {
    const place = openPlace(dir, server.url, { lake: false });
    place.addJob('planned', listTargets('token_account', 10_000, 10_000 + count, 1));
    const { peakMb } = await place.cli('run', '--max-requests', '1', '--log-level', 'warn');
    return peakMb;
  };
  const count = bar('targets');
  const [few, many] = [await peakOf(100), await peakOf(count)];
  const of200k = few + ((many - few) / count) * 200_000;
  const note = `${many.toFixed(0)} MB at most, ${of200k.toFixed(0)} MB for 200,000`;
  expect(of200k, note).toBeLessThanOrEqual(limitMb);
  showFigure('targets', { done: count, note });
});
