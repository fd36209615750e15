import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { DataFolder } from '../../../src/data-folder.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { createLoader } from '../../../src/load/load.ts';
import { listUnloaded } from '../../../src/load/staged-segments.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { newRecords } from '../../support/pages.ts';
import { loadLanded, makeFolder, publishLoaded } from '../../support/publish-landed.ts';

/** A record of 50 KB that no form spares the second look at: it has members that no column takes. */
function makeOddRecord(n: number): string {
  return JSON.stringify({
    id: idOf(n),
    interface: 'Custom',
    content: { metadata: { name: `asset ${n}`, description: 'd'.repeat(50_000) }, more: { n } },
    more: n,
  });
}

const idOf = (n: number) => `${'A'.repeat(40)}${String(n).replaceAll('0', 'z')}`;

/** A crawl of one page. @param night from 1 */
async function landAssets(folder: DataFolder, night: number, records: readonly string[]): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing });
  await landing.appendPage(
    {
      ...{ task: 'a', crawl: `r${night}`, run: `r${night}`, job: 'a', target: '', params: {}, carries: [] },
      ...{ operation: 'getAssetsByGroup', shape: 'asset', position: { limit: records.length }, nulls: 0 },
      ...{
        page: 1,
        slot: 10 * night,
        next: null,
        end: 'exhausted' as const,
        last_slot: null,
        envelope: '{}',
      },
      received_at: `2026-01-0${night}T00:00:00.000Z`,
    },
    newRecords(...records),
  );
  await landing.close();
}

test('large records that take more memory than the loader may use are loaded all the same, and it keeps to its bound again', async () => {
  const count = 200;
  const folder = await makeFolder();
  await landAssets(
    folder,
    1,
    Array.from({ length: count }, (_, n) => makeOddRecord(n)),
  );
  const options = { memoryLimit: '100MB', threads: 2, tempDir: folder.temp };
  const memory = await openDatabase(':memory:', options);
  const before = await readLimits(memory);
  const loader = await createLoader(memory, folder);
  for (const segment of await listUnloaded(folder)) expect(await loader.loadSegment(segment)).toBe(count);
  expect(await readLimits(memory)).toEqual(before);
  memory.close();
  const [row] = await publishLoaded(folder, 'z', (build) =>
    build.rows(`
      select count(*) as assets, sum(length(description)) as text, sum((extra ->> '$.more')::bigint) as more from assets
    `),
  );
  expect(row).toEqual({
    assets: BigInt(count),
    text: BigInt(count * 50_000),
    more: BigInt((count * (count - 1)) / 2),
  });
});

test('large rows that take more memory than a publish may use are published all the same', async () => {
  const count = 800;
  const folder = await makeFolder();
  for (const night of [1, 2]) {
    // Of random letters: a column of one value takes no memory.
    const makeRecord = (n: number) => {
      const description = `${night} ${randomBytes(25_000).toString('hex')}`;
      return JSON.stringify({
        id: idOf(n),
        interface: 'Custom',
        content: { metadata: { name: `asset ${n}`, description } },
      });
    };
    await landAssets(
      folder,
      night,
      Array.from({ length: count }, (_, n) => makeRecord(n)),
    );
    await loadLanded(folder);
    const ask = (build: Database) =>
      build.rows('select count(*) as assets, min(description[:1]) as night from assets');
    const [row] = await publishLoaded(folder, `r${night}`, ask, { memoryLimit: '128MB' });
    expect(row).toEqual({ assets: BigInt(count), night: String(night) });
  }
});

async function readLimits(memory: Awaited<ReturnType<typeof openDatabase>>): Promise<object[]> {
  return memory.rows(`
    select current_setting('memory_limit')[:3] as memory, current_setting('threads') as threads
  `);
}
