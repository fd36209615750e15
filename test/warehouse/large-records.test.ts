import { expect, test } from 'vitest';
import { createLandingLog } from '../../src/landing/writer.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { createLoader, listUnloaded } from '../../src/warehouse/load.ts';
import { newRecords } from '../landing/pages.ts';
import { makeFolder, publishLoaded } from './publish-landed.ts';

const count = 200;

/** A record of 50 KB that no form spares the second look at: it has members that no column takes. */
function makeRecord(n: number): string {
  return JSON.stringify({
    id: `${'A'.repeat(40)}${String(n).replaceAll('0', 'z')}`,
    content: { metadata: { name: `asset ${n}`, description: 'd'.repeat(50_000) }, more: { n } },
    more: n,
  });
}

test('large records that take more memory than the loader may use are loaded all the same, and it keeps to its bound again', async () => {
  const folder = await makeFolder();
  const landing = createLandingLog({ dir: folder.landing });
  await landing.appendPage(
    {
      ...{ task: 'a', crawl: 'r1', run: 'r1', job: 'a', target: '', params: {}, carries: [], nulls: 0 },
      ...{ operation: 'getAssetsByGroup', shape: 'asset', position: { limit: count }, envelope: '{}' },
      ...{ page: 1, slot: 10, next: null, end: 'exhausted' as const, last_slot: null },
      received_at: '2026-01-01T00:00:00.000Z',
    },
    newRecords(...Array.from({ length: count }, (_, n) => makeRecord(n))),
  );
  await landing.close();
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

async function readLimits(memory: Awaited<ReturnType<typeof openDatabase>>): Promise<object[]> {
  return memory.rows(`
    select current_setting('memory_limit')[:3] as memory, current_setting('threads') as threads
  `);
}
