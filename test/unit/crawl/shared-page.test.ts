import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { landPage } from '../../../src/crawl/land-page.ts';
import { readLanding } from '../../../src/landing/reader.ts';
import { recoverLanding } from '../../../src/landing/recover-landing.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { makeLanding, newPage, newRecords } from '../../support/pages.ts';

test('a page that several crawls share lands for all of them or for none, whatever write is the last', async () => {
  // A full segment ends between two pages, never between one page's crawls.
  const pages = [1, 2].map((n) => ({
    first: newPage(n, { task: 'one' }),
    twin: newPage(n, { task: 'other' }),
  }));
  const probe = await open(join(await makeLanding(), 'probe'), 'w');
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const append = prototype.appendFile;
  /** Lands both pages, of whose writes so many last. @returns how many pages each crawl has afterwards */
  const land = async (lasting: number) => {
    const dir = await makeLanding();
    let writes = 0;
    const spy = vi.spyOn(prototype, 'appendFile').mockImplementation(function (this: FileHandle, ...args) {
      writes += 1;
      return writes > lasting ? Promise.reject(new Error('killed')) : append.apply(this, args);
    });
    const log = createLandingLog({ dir, rotateBytes: 10 });
    const task = { task: { id: 'one' } } as Parameters<typeof landPage>[1];
    const twins = [{ task: { id: 'other', job: 'job', target: 'target' }, crawl: 'run-1' }] as never;
    const survive = (error: Error) => expect(error.message).toContain('killed');
    for (const { first } of pages)
      await landPage({ landing: log, onPage: () => {} }, { ...task, twins }, first, {
        records: newRecords('{"id":"a"}'),
      } as never).catch(survive);
    await log.close().catch(survive);
    spy.mockRestore();
    await recoverLanding(dir);
    const landed = [...(await readLanding(dir)).values()].map(({ pages }) => pages.size);
    return { landed, writes };
  };
  const whole = await land(Number.POSITIVE_INFINITY);
  expect(whole.landed).toEqual([2, 2]);
  for (let lasting = 0; lasting < whole.writes; lasting += 1) {
    const { landed } = await land(lasting);
    expect([[], [1, 1], [2, 2]], `after ${lasting} writes`).toContainEqual(landed);
  }
});
