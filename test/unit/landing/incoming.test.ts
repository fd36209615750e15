import { link, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { landOutside, takeIncoming } from '../../../src/landing/incoming.ts';
import { readLanding } from '../../../src/landing/reader.ts';
import { recoverLanding } from '../../../src/landing/recover-landing.ts';
import type { NewPage } from '../../../src/landing/render-page.ts';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { newRecords } from '../../support/pages.ts';

let incoming: string;
let landing: string;

beforeEach(async () => {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-incoming-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  incoming = join(root, 'incoming');
  landing = join(root, 'landing');
  const log = createLandingLog({ dir: landing });
  await log.appendPage(page('run'), newRecords('{"n":0}'));
  await log.close();
});

function page(crawl: string): NewPage {
  return {
    ...{ task: 'task', crawl, run: crawl, job: '_webhook', target: 't', operation: 'o', params: {} },
    ...{ shape: 'webhook', carries: [], position: null, page: 1, next: null, end: 'exhausted', slot: null },
    ...{ nulls: 0, last_slot: null, received_at: '2026-01-01T00:00:00.000Z', envelope: 'null' },
  };
}

const land = (crawl: string, origin = 'a') =>
  landOutside(incoming, { webhook: origin }, page(crawl), newRecords(`{"crawl":"${crawl}"}`));

const take = (taken: ReadonlySet<number> = new Set()) =>
  takeIncoming({
    incoming,
    landing,
    isTaken: async (segment) => taken.has(segment),
    mayComeFrom: async ({ webhook }) => webhook === 'a',
  });

/** What a session does as it begins. */
async function begin(taken?: ReadonlySet<number>) {
  await recoverLanding(landing);
  await take(taken);
}

async function landedCrawls(): Promise<string[]> {
  const crawls = [...(await readLanding(landing)).values()];
  for (const segment of await listSegments(landing)) await readFile(recordFile(landing, segment));
  return crawls.map(({ crawl }) => crawl).sort();
}

test('pages stand whole in the log after the next session, in the order they came', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, n) => land(`w${n}`)));
  // A session at work recovers nothing of them, and does not see them.
  await recoverLanding(landing);
  expect(await landedCrawls()).toEqual(['run']);
  await begin();
  expect(await landedCrawls()).toEqual(['run', 'w0', 'w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7']);
  expect(await readdir(incoming)).toEqual([]);
  const texts = await Promise.all(
    (await listSegments(landing)).map((n) => readFile(recordFile(landing, n), 'utf8')),
  );
  for (let n = 0; n < 8; n += 1)
    expect(texts.filter((text) => text.includes(`{"crawl":"w${n}"}`))).toHaveLength(1);
  await begin();
  expect((await listSegments(landing)).length).toBe(9);
});

test('a kill between any two steps loses nothing and doubles nothing', async () => {
  // A segment has the number of the millisecond it begins in; this one is to have another than the log's.
  await setTimeout(2);
  await land('w');
  const [name] = (await readdir(incoming)) as [string];
  const folder = join(incoming, name);
  const [segment] = (await listSegments(folder)) as [number];
  // Killed after the records were linked: an orphan, which recovery removes.
  await link(recordFile(folder, segment), recordFile(landing, segment));
  await recoverLanding(landing);
  expect(await readdir(landing)).not.toContain(`${segment}.ndjson`);
  // Killed after both were linked, before the folder was removed.
  await link(recordFile(folder, segment), recordFile(landing, segment));
  await link(pageFile(folder, segment), pageFile(landing, segment));
  await begin();
  expect(await landedCrawls()).toEqual(['run', 'w']);
  expect((await listSegments(landing)).length).toBe(2);
  expect(await readdir(incoming)).toEqual([]);
});

test('a draft that a kill left is never taken in', async () => {
  await land('w');
  const [name] = (await readdir(incoming)) as [string];
  await writeFile(join(incoming, 'draft-abcdef'), 'x').catch(() => undefined);
  await begin();
  expect(await readdir(incoming)).toEqual(['draft-abcdef']);
  expect(name).toMatch(/^\d+-\w{6}$/);
});

test('a number that is taken elsewhere is not used again', async () => {
  await land('w');
  const [name] = (await readdir(incoming)) as [string];
  const number = Number.parseInt(name, 10);
  await begin(new Set([number, number - 1]));
  expect(await listSegments(landing)).toContain(number - 2);
  expect(await landedCrawls()).toEqual(['run', 'w']);
});

test('pages of another origin stay outside', async () => {
  await land('w');
  await land('x', 'b');
  await begin();
  expect(await landedCrawls()).toEqual(['run', 'w']);
  expect(await readdir(incoming)).toHaveLength(1);
});
