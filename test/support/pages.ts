import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { LandingRecord } from '../../src/landing/landing-record.ts';
import type { IdsLine } from '../../src/landing/page-line.ts';
import type { NewPage } from '../../src/landing/render-page.ts';
import { listSegments } from '../../src/landing/segment-files.ts';
import { createLandingLog, type LandingLog } from '../../src/landing/writer.ts';

/** An empty landing folder, removed when the test ends. */
export async function makeLanding(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerlake-landing-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The landing log of a folder, for what comes after what is there: as the program, which may be as quick as the clock. */
export async function openLandingLog(dir: string): Promise<LandingLog> {
  return createLandingLog({ dir, highestNumber: Math.max(0, ...(await listSegments(dir))) });
}

/** A page of a crawl that goes on by cursor. */
export function newPage(page: number, fields: Partial<NewPage> = {}): NewPage {
  return {
    task: 'task-1',
    crawl: 'run-1',
    run: 'run-1',
    job: 'job',
    target: 'target',
    operation: 'getAssetsByGroup',
    params: { groupKey: 'collection' },
    shape: 'asset',
    carries: [],
    position: page === 1 ? { limit: 10 } : { limit: 10, cursor: `cursor-${page - 1}` },
    page,
    next: { limit: 10, cursor: `cursor-${page}` },
    end: null,
    slot: 100 + page,
    nulls: 0,
    last_slot: null,
    received_at: `2026-01-01T00:00:0${page % 10}.000Z`,
    envelope: '{"result":{}}',
    ...fields,
  };
}

export function newRecord(text: string, facts: Partial<Pick<LandingRecord, 'key' | 'refusal'>> = {}) {
  return Object.assign(new LandingRecord(Buffer.from(text)), facts);
}

/** Records with these texts. */
export function newRecords(...texts: string[]): LandingRecord[] {
  return texts.map((text) => newRecord(text));
}

/** One slice of a batch's frozen ids. */
export function newSlice(page: number, ids: readonly string[], last: boolean): IdsLine {
  return {
    kind: 'ids',
    task: 'task-1',
    crawl: 'run-1',
    run: 'run-1',
    job: 'job',
    target: '',
    operation: 'getAssetBatch',
    shape: 'asset',
    page,
    ids,
    last,
  };
}
