import { mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LandingRepair, planLandingRepair, repairLanding } from '../../../src/landing/repair-landing.ts';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { makeLanding, newPage, newRecords } from '../../support/pages.ts';

/** A sealed segment of two crawls, the last line of which is damaged, and what a repair would do about it. */
async function openDamaged() {
  const dir = await makeLanding();
  const aside = await mkdtemp(join(tmpdir(), 'ledgerlake-aside-'));
  onTestFinished(() => rm(aside, { recursive: true, force: true }));
  const log = createLandingLog({ dir });
  await log.appendPage(newPage(1), newRecords('{"id":"a"}'));
  await log.appendPage(newPage(1, { task: 'task-2' }), newRecords('{"id":"b"}'));
  await log.close();
  const [segment] = await listSegments(dir);
  const [records, pages] = [recordFile(dir, segment!), pageFile(dir, segment!)];
  const text = await readFile(pages, 'utf8');
  await writeFile(pages, text.replace('"task-2"', '"task-9"'));
  const plan = await planLandingRepair(dir, 0);
  expect(plan.pages).toEqual({ kept: 1, setAside: 1 });
  const repair = (as: LandingRepair = plan) => repairLanding(dir, as, join(aside, 'now'), async () => {});
  return { records, pages, text: await readFile(pages, 'utf8'), repair };
}

test('records that are cut before a repair copies them: it ends, and no file has changed', async () => {
  const { records, pages, text, repair } = await openDamaged();
  await truncate(records, 5);
  await expect(repair()).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringMatching(/bytes 0 to/),
  });
  expect(await readFile(pages, 'utf8')).toBe(text);
});

test('records that cannot be opened are not taken for records that are not there', async () => {
  const { records, pages, text, repair } = await openDamaged();
  await rm(records);
  await symlink(records, records);
  await expect(repair()).rejects.toMatchObject({ code: 'ELOOP' });
  expect(await readFile(pages, 'utf8')).toBe(text);
});
