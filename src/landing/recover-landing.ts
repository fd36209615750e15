import { open, readdir, rename, rm, rmdir, truncate } from 'node:fs/promises';
import { uptime } from 'node:os';
import { basename, join } from 'node:path';
import { DamagedLanding } from '../errors.ts';
import { type InspectedLine, type Inspection, inspectSegment, readPageLines } from './page-lines.ts';
import { exists, listSegments, pageFile, recordFile, syncDirectory, syncFile } from './segment-files.ts';
import { sealedLine } from './writer.ts';

/** The folder of rewritten segments that replace damaged ones (repair-landing.ts). */
export function repairedFolder(dir: string): string {
  return join(dir, 'repaired');
}

/** When this machine booted, Unix ms. */
export function bootTime(): number {
  return Date.now() - uptime() * 1000;
}

/**
 * Seals every segment that a killed process left unsealed and cuts its torn tail: what a kill or a power loss can leave
 * unfinished behind the last synced page. Any other difference from what was written is damage.
 * @param bootedAt when the machine booted, Unix ms: a power loss may have torn bytes written before
 * @returns record files that were removed because they have no page file to describe them
 * @throws DamagedLanding (exit 74), no file changed, if a damaged page or line is not a torn tail
 */
export async function recoverLanding(dir: string, bootedAt = bootTime()): Promise<string[]> {
  await finishRepair(dir);
  const removed = await removeOrphans(dir);
  const torn: Inspection[] = [];
  for (const segment of await listSegments(dir)) {
    if (await isSealedWhole(dir, segment)) continue;
    const inspection = await inspectSegment(dir, segment);
    refuseDamage(dir, inspection, bootedAt);
    torn.push(inspection);
  }
  for (const inspection of torn) await cutTail(dir, inspection);
  return removed;
}

/** Moves rewritten segments to the landing log; may be repeated after a kill. */
export async function finishRepair(dir: string): Promise<void> {
  const repaired = repairedFolder(dir);
  if (!(await exists(repaired))) return;
  for (const name of await readdir(repaired)) await rename(join(repaired, name), join(dir, name));
  await syncDirectory(dir);
  await rmdir(repaired);
  await syncDirectory(dir);
}

/** Removes record files without a page file, which a kill leaves while a segment is made or archived. */
async function removeOrphans(dir: string): Promise<string[]> {
  const removed: string[] = [];
  const segments = new Set(await listSegments(dir));
  for (const name of await readdir(dir)) {
    const segment = /^(\d+)\.ndjson$/.exec(name)?.[1];
    if (segment === undefined || segments.has(Number(segment))) continue;
    await rm(join(dir, name));
    removed.push(join(dir, name));
  }
  return removed;
}

/** Reads the lines only: the records of a sealed segment are verified when it is loaded or archived. */
async function isSealedWhole(dir: string, segment: number): Promise<boolean> {
  let sealed = false;
  for await (const { line } of readPageLines(dir, segment)) {
    if (line === null) return false;
    sealed = line.kind === 'sealed';
  }
  return sealed;
}

/** @throws DamagedLanding for the first damage of a segment, if it has one */
function refuseDamage(dir: string, inspection: Inspection, bootedAt: number): void {
  const damaged = findDamage(inspection, bootedAt);
  if (damaged !== null) throw describeDamage(dir, inspection, damaged);
}

export function describeDamage(dir: string, { segment }: Inspection, damaged: InspectedLine): DamagedLanding {
  const what =
    damaged.line === null
      ? 'the line differs from what was written'
      : `its page's records in ${basename(recordFile(dir, segment))} are not as they were received`;
  return new DamagedLanding(
    `${pageFile(dir, segment)}, line ${damaged.number}, is damaged: ${what}`,
    'Nothing was changed. `ledgerlake doctor --repair` sets what is damaged aside, keeps all other pages and says which targets are asked again.',
  );
}

/**
 * The first line or page of a segment that differs from what was written, unless that is a torn tail. Pure.
 *
 * A killed process leaves what it gave to the kernel, so at most one line is incomplete. A power loss may also lose or tear any
 * page behind the last group sync. So it is damage if the segment is sealed, if a later line says that these bytes were
 * synced, or, on a machine that has not rebooted since, if a whole page follows.
 */
export function findDamage({ lines, sealed }: Inspection, bootedAt: number): InspectedLine | null {
  const first = lines.findIndex(({ whole }) => !whole);
  const damaged = lines[first];
  if (damaged === undefined) return null;
  if (sealed || lines.some((line) => wasSynced(damaged, line))) return damaged;
  const lastMs = Math.max(0, ...lines.flatMap(({ line }) => Date.parse(timeOf(line)) || 0));
  const followed = lines
    .slice(first)
    .some(({ line, whole }) => line?.kind === 'page' && whole && line.records > 0);
  return followed && bootedAt <= lastMs ? damaged : null;
}

/** Whether a line says that the bytes of a damaged one were already synced. */
function wasSynced(damaged: InspectedLine, { line }: InspectedLine): boolean {
  const [recordBytes, pageBytes] = line?.synced ?? [0, 0];
  if (pageBytes > damaged.start && damaged.line === null) return true;
  return damaged.records !== null && damaged.records.end <= recordBytes;
}

function timeOf(line: InspectedLine['line']): string {
  if (line?.kind === 'page') return line.received_at;
  if (line?.kind === 'accepted') return line.accepted_at;
  if (line?.kind === 'forgotten') return line.forgotten_at;
  return line?.kind === 'failed' ? line.failed_at : '';
}

/** Cuts the torn tail of a segment and seals the rest; removes the segment if nothing is left. */
async function cutTail(dir: string, { segment, lines }: Inspection): Promise<void> {
  const torn = lines.findIndex(({ whole }) => !whole);
  const kept = torn === -1 ? lines : lines.slice(0, torn);
  const last = kept.at(-1);
  if (last === undefined) {
    await rm(recordFile(dir, segment), { force: true });
    await rm(pageFile(dir, segment));
    return syncDirectory(dir);
  }
  const recordBytes = kept.reduce((most, { records }) => records?.end ?? most, 0);
  await truncate(recordFile(dir, segment), recordBytes);
  await truncate(pageFile(dir, segment), last.start + last.length + 1);
  // Records first, because a sealed segment is not recovered again.
  await syncFile(recordFile(dir, segment));
  const pages = await open(pageFile(dir, segment), 'a');
  try {
    await pages.appendFile(sealedLine);
    await pages.datasync();
  } finally {
    await pages.close();
  }
}
