import { expect } from 'vitest';
import { archiveSegments, removeLanded } from '../../../src/archive/archive.ts';
import { restoreSegment } from '../../../src/archive/restore-segment.ts';
import type { DataFolder } from '../../../src/data-folder.ts';
import { maxEnvelopeBytes } from '../../../src/landing/page-line.ts';
import { listSegments } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { daily } from '../../levels.ts';
import { newPage, newRecords } from '../../support/pages.ts';
import { loadLanded, makeFolder, publishLoaded } from '../../support/publish-landed.ts';

/** A crawl whose pages each have a record, and so many bytes beside it. @returns the segments it took */
async function landEnvelopes(folder: DataFolder, pages: number, bytes: number): Promise<number[]> {
  const landing = createLandingLog({ dir: folder.landing });
  for (let page = 1; page <= pages; page += 1) {
    const end = page === pages ? { next: null, end: 'exhausted' as const } : {};
    const id = 'A'.repeat(43) + page;
    await landing.appendPage(
      newPage(page, { ...end, envelope: JSON.stringify({ other: 'x'.repeat(bytes) }) }),
      newRecords(JSON.stringify({ id, interface: 'V1_NFT', ownership: { owner: id } })),
    );
  }
  await landing.close();
  return listSegments(folder.landing);
}

daily(
  'page lines as long as they may be are loaded, published, archived and restored within 256MB',
  async () => {
    const [pages, bytes, segments] = [7, maxEnvelopeBytes - 1000, 2];
    const folder = await makeFolder();
    const landed = await landEnvelopes(folder, pages, bytes);
    expect(landed.length).toBe(segments);
    await loadLanded(folder);
    const rows = await publishLoaded(folder, 'run-1', (build) => build.rows('select id from assets'));
    expect(rows.length).toBe(pages);
    const database = await openDatabase(':memory:', {
      ...{ memoryLimit: '256MB', threads: 2, tempDir: folder.temp },
    });
    try {
      await archiveSegments(database, folder, landed);
      await removeLanded(folder, landed);
      expect(await listSegments(folder.landing)).toEqual([]);
      for (const segment of landed) await restoreSegment(database, folder.archive, folder.landing, segment);
    } finally {
      database.close();
    }
    expect(await listSegments(folder.landing)).toEqual(landed);
  },
);
