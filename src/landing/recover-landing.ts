import { open, readdir, rename, rm, rmdir, truncate } from 'node:fs/promises';
import { uptime } from 'node:os';
import { basename, join } from 'node:path';
import { DamagedLanding } from '../errors.ts';
import { type InspectedLine, type Inspection, inspectSegment, readPageLines } from './page-lines.ts';
import { exists, listSegments, pageFile, recordFile, syncDirectory, syncFile } from './segment-files.ts';
import { sealedLine } from './writer.ts';

/** Segments that a repair wrote anew and that are to take the place of the damaged ones (repair-landing.ts). */
export function repairedFolder(dir: string): string {
  return join(dir, 'repaired');
}

/** When this machine was started, Unix ms. */
export function bootTime(): number {
  return Date.now() - uptime() * 1000;
}

/**
 * Seals every segment that a killed process left unsealed, without its torn tail: what a kill, or a power loss, can have
 * left unfinished behind the last page that was synced. Anything else that is not as it was written is damage, and is
 * left as it is.
 * @param bootedAt when the machine was started, Unix ms: earlier bytes may have gone through a power loss
 * @returns record files that were removed, because they had no page file: nothing says what is in them
 * @throws DamagedLanding (exit 74), no file changed, where a damaged page or line is no torn tail
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

/** Moves what a repair has finished writing to its place; done again after a kill in between. */
export async function finishRepair(dir: string): Promise<void> {
  const repaired = repairedFolder(dir);
  if (!(await exists(repaired))) return;
  for (const name of await readdir(repaired)) await rename(join(repaired, name), join(dir, name));
  await syncDirectory(dir);
  await rmdir(repaired);
  await syncDirectory(dir);
}

/** Record files without a page file: a kill while a segment was made or archived leaves them. */
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

/** The lines only: the records of a sealed segment are looked at when they are loaded or archived. */
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
 * The first line, or page, of a segment that is not as it was written, unless that is a torn tail. Pure.
 *
 * A killed process leaves what it gave to the kernel: at most one line without its end. A power loss may also take or tear
 * any page behind the last group sync. So it is damage where the segment is sealed, or where a line written later says
 * that these bytes were synced before it, or, on a machine that was not started anew since, where a whole page follows.
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

/** Whether another line says that the bytes of a damaged one were synced before it was written. */
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

/** Cuts what is torn, which may be all, and seals the rest. */
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
  // The records first: a sealed segment is not looked at again.
  await syncFile(recordFile(dir, segment));
  const pages = await open(pageFile(dir, segment), 'a');
  try {
    await pages.appendFile(sealedLine);
    await pages.datasync();
  } finally {
    await pages.close();
  }
}
