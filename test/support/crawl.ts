import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CrawlDeps, TaskStart } from '../../src/crawl/crawl-task.ts';
import { crawlTask } from '../../src/crawl/crawl-tasks.ts';
import { createPageSizes } from '../../src/crawl/page-size.ts';
import { noShortPageEnds } from '../../src/crawl/paging.ts';
import { createSlotCeiling, type SlotCeiling } from '../../src/crawl/slot-ceiling.ts';
import type { Task } from '../../src/jobs/task.ts';
import { type LandedCrawl, readLanding } from '../../src/landing/reader.ts';
import { recoverLanding } from '../../src/landing/recover-landing.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import { clientOf, jumpingTime } from './api-client.ts';
import { reply, startServer } from './http-server.ts';
import { makeLanding } from './pages.ts';
import { readCall } from './scripted-api.ts';

export type Params = Record<string, unknown>;
/** Answers the nth request (from 1): a result, or an Error (with a `code`, or -32602) to fail the request for good. */
export type Answer = (params: Params, nth: number) => unknown;

/** A task of an operation of the catalogue. */
export function newTask(name: string, fields: Partial<Task> = {}): Task {
  const operation = findOperation(name)!;
  const defaults = { id: 'task-1', job: 'job', target: '', params: {}, pageSize: 2 };
  return { ...defaults, operation, since: null, overlapMs: null, incremental: false, range: null, ...fields };
}

/** A crawl over a real server and a real landing log, run after run. */
export interface Crawl {
  /** Parameters of every request so far. */
  asked: Params[];
  /** Runs the task from where its log stands; gives the error it stopped with, or null. */
  run(start?: Partial<TaskStart>, deps?: Partial<CrawlDeps>): Promise<Error | null>;
  /** What has landed of it. */
  landed(): Promise<LandedCrawl>;
  /** Ids of the records that have landed, in order. */
  landedIds(): Promise<string[]>;
}

/** @param isKnown answers what an incremental crawl asks of each page */
export async function newCrawl(
  task: Task,
  answer: Answer,
  isKnown: CrawlDeps['isKnown'] = async () => false,
): Promise<Crawl> {
  const asked: Params[] = [];
  const { url } = await startServer((request, response) => {
    const { id, params } = readCall(request);
    asked.push(params);
    const result = answer(params, asked.length);
    if (result instanceof Error)
      reply(response, 400, { error: { code: -32602, ...result, message: result.message } });
    else reply(response, 200, id === undefined ? result : { jsonrpc: '2.0', id, result });
  });
  const dir = await makeLanding();
  const { client } = clientOf(url);
  let runs = 0;
  const landed = async () => (await readLanding(dir)).get(`${task.id}/run-1`);
  return {
    asked,
    async run(start = {}, more = {}) {
      runs += 1;
      await recoverLanding(dir);
      const landing = createLandingLog({ dir });
      onTestFinished(() => landing.close().catch(() => undefined));
      const goal = { lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: null };
      const resume = (await landed()) ?? null;
      const deps = {
        client,
        landing,
        run: `run-${runs}`,
        wave: 1,
        batchConcurrency: 2,
        pageSizes: createPageSizes(),
        shortPages: noShortPageEnds,
        slots: ceilingAbove(110),
        timing: jumpingTime(),
        onPage: () => undefined,
        isKnown,
        ...more,
      };
      const error = await crawlTask({ task, crawl: 'run-1', resume, goal, ...start }, deps).then(
        () => null,
        (reason: Error) => reason,
      );
      await landing.close();
      return error;
    },
    async landedIds() {
      const files = (await readdir(dir)).filter((name) => /^\d+\.ndjson$/.test(name)).sort();
      const texts = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')));
      const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
      return lines.map((line) => (JSON.parse(line) as { record: { id: string } }).record.id);
    },
    async landed() {
      const crawl = await landed();
      if (crawl === undefined) throw new Error('nothing has landed');
      return crawl;
    },
  };
}

/** The ceiling of a folder whose newest slot was this one, just before the client's clock begins. */
export function ceilingAbove(slot: number): SlotCeiling {
  const slots = createSlotCeiling();
  slots.saw(slot, jumpingTime().now());
  return slots;
}

/** A list of assets in pages of two, in cursor style: the cursor is the number of records given so far. */
export function cursorList(count: number, slot = 100): Answer {
  return ({ cursor, limit }) => {
    const from = Number(cursor ?? 0);
    const items = assets(from, Math.min(count, from + Number(limit)));
    return {
      last_indexed_slot: slot,
      items,
      ...(items.length > 0 ? { cursor: String(from + items.length) } : {}),
    };
  };
}

/** The same list by page numbers only. */
export function numberedList(count: number): Answer {
  return ({ page, limit }) => {
    const from = (Number(page ?? 1) - 1) * Number(limit);
    return { last_indexed_slot: 100, items: assets(from, Math.min(count, from + Number(limit))) };
  };
}

export function assets(from: number, to: number): { id: string }[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, n) => ({ id: `asset-${from + n}` }));
}
