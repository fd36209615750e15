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
  for (const lasting of [0, 1, 2, 3, 4]) {
    const dir = await makeLanding();
    let writes = 0;
    const spy = vi.spyOn(prototype, 'appendFile').mockImplementation(function (this: FileHandle, ...args) {
      writes += 1;
      return writes > lasting ? Promise.reject(new Error('killed')) : append.apply(this, args);
    });
    const log = createLandingLog({ dir, rotateBytes: 10 });
    const task = { task: { id: 'one' } } as Parameters<typeof landPage>[1];
    const twins = [{ task: { id: 'other', job: 'job', target: 'target' }, crawl: 'run-1' }] as never;
    for (const { first } of pages)
      await landPage({ landing: log, onPage: () => {} }, { ...task, twins }, first, {
        records: newRecords('{"id":"a"}'),
      } as never).catch(() => undefined);
    await log.close().catch(() => undefined);
    spy.mockRestore();
    await recoverLanding(dir);
    const landed = [...(await readLanding(dir)).values()].map(({ pages }) => pages.size);
    expect(new Set(landed).size, `${landed} pages after ${lasting} writes`).toBeLessThan(2);
    expect([0, 2]).toContain(landed.length);
  }
});
