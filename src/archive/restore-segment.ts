import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { DiskError } from '../errors.ts';
import type { LandingLine } from '../landing/page-line.ts';
import { isAsWritten } from '../landing/page-lines.ts';
import { isSegmentWhole } from '../landing/reader.ts';
import { renderLine } from '../landing/render-page.ts';
import { pageFile, recordFile, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { sealedLine } from '../landing/writer.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { archivedPages, isArchiveDamage, listTexts } from './archive-files.ts';
import { listLostTexts } from './lost-texts.ts';
import type { NeededRecords } from './needed-records.ts';

/**
 * Writes an archived segment to a landing folder again, byte for byte as it was archived, page file last. The archive keeps
 * its copy.
 * @param database an in-memory one
 * @param needed the records to write, of segments that it knows; their page lines are changed to describe these only
 * @throws DiskError if the archive is damaged; StoppedEarly after a signal
 */
export async function restoreSegment(
  database: Database,
  archive: string,
  landing: string,
  segment: number,
  needed?: NeededRecords,
): Promise<void> {
  const [records, pages] = [recordFile(landing, segment), pageFile(landing, segment)];
  try {
    await retryWithMoreMemory(database, async () => {
      await database.run(readSql('archive/restored-pages.sql'), { pages: archivedPages(archive, segment) });
      await database.run(readSql('archive/restored-texts.sql'));
    });
    const [changed] = await database.rows(readSql('archive/changed-lines.sql'));
    if (changed !== undefined) throw new Error('a page line is not what it was');
    await retryWithMoreMemory(database, () => findTexts(database, archive));
    const isThinned = needed?.segments.has(segment) === true;
    if (isThinned)
      await database.run(
        `delete from restored_text as r where not exists (
          from read_parquet($file) as n
          where n.segment = $segment and n.text_segment = r.text_segment and n.text_number = r.text_number
        )`,
        { file: needed.file, segment },
      );
    await writeRecords(database, `${records}.tmp`);
    if (isThinned) await writeThinned(database, `${records}.tmp`, `${pages}.tmp`);
    else await writeLines(database, 'select line from restored_page order by line_number', `${pages}.tmp`);
    await rename(`${records}.tmp`, records);
    await rename(`${pages}.tmp`, pages);
    if (!(await isSegmentWhole(landing, segment))) throw new Error('its records are not what they were');
    await syncDirectory(landing);
  } catch (error) {
    for (const file of [pages, records, `${pages}.tmp`, `${records}.tmp`]) await rm(file, { force: true });
    if (!isArchiveDamage(error)) throw error;
    throw new DiskError(
      `archived segment ${segment} cannot be read: ${(error as Error).message}`,
      `Restore ${archive} from a backup; or set damaged files aside with \`ledgerlake doctor --repair\`, or move ${segment}.parquet and ${segment}.pages.parquet out of it: what only they hold is crawled again.`,
      { cause: error },
    );
  }
}

/** Writes the page lines of a thinned segment: it has the records in `restored_text`. */
async function writeThinned(database: Database, records: string, file: string): Promise<void> {
  const counts = await database.rows<{ end_offset: bigint; n: bigint }>(
    'select end_offset, count(*) as n from restored_text group by end_offset',
  );
  const lines = await database.rows<{ line: string }>('select line from restored_page order by line_number');
  const text = await thinPageLines(
    records,
    lines.map(({ line }) => line),
    new Map(counts.map(({ end_offset, n }) => [Number(end_offset), Number(n)])),
  );
  await writeFile(file, text, { mode: 0o600 });
}

/**
 * The page lines of a thinned segment, which has only some of its records, changed to describe these.
 * @param records its record file
 * @param lines the original page lines, with the sealing one
 * @param counts how many records are left of each page, by its `end_offset`
 * @throws SyntaxError for a line that is not JSON
 */
async function thinPageLines(
  records: string,
  lines: readonly string[],
  counts: ReadonlyMap<number, number>,
): Promise<string> {
  const bytes = await readFile(records);
  let offset = 0;
  const thinned = lines.map((text) => {
    const line = JSON.parse(text) as LandingLine | { kind: 'sealed' };
    if (line.kind === 'sealed') return sealedLine;
    const { line_crc32: _, synced: __, ...rest } = line as LandingLine & { line_crc32?: number };
    if (rest.kind !== 'page') return renderLine(rest);
    const from = offset;
    // An empty page ends where the one before it does.
    const count = rest.records === 0 ? 0 : (counts.get(rest.end_offset) ?? 0);
    for (let left = count; left > 0; left -= 1) offset = bytes.indexOf(10, offset) + 1;
    return renderLine({ ...rest, end_offset: offset, crc32: crc32(bytes.subarray(from, offset)) });
  });
  return thinned.join('');
}

/** Writes the record lines, from every archived file that has some of them; an empty file if there are none. */
async function writeRecords(database: Database, file: string): Promise<void> {
  const found = await database.rows<{ filename: string }>(
    'select distinct filename from found_text semi join restored_text using (text_segment, text_number)',
  );
  if (found.length === 0) return writeFile(file, '', { mode: 0o600 });
  const files = found.map(({ filename }) => filename);
  await writeLines(database, readSql('archive/restored-records.sql'), file, files);
}

/** Makes `found_text` for the texts of `restored_text`, and puts their digests back in the page lines. */
async function findTexts(database: Database, archive: string): Promise<void> {
  const files = await listTexts(archive);
  // DuckDB does not accept an empty list of files.
  if (files.length > 0) await database.run(readSql('archive/found-texts.sql'), { files });
  else
    await database.run(
      `create or replace temp table found_text (
        text_segment bigint, text_number integer, digest uuid, filename varchar, stored_segment bigint, stored_number integer
      )`,
    );
  const lost = await listLostTexts(archive);
  if (files.length > 0 && lost.length > 0)
    await database.run(readSql('archive/found-again.sql'), { lost, files });
  await database.run(readSql('archive/restored-lines.sql'));
  if (lost.length > 0) await verifyFoundAgain(database);
}

/**
 * A list of lost texts was read from a damaged file. It is right about a page if the page's line, with the digests that it
 * gives, is the one that was written.
 */
async function verifyFoundAgain(database: Database): Promise<void> {
  const lines = await database.rows<{ line: string }>(`
    select line
    from restored_page
    where end_offset in (
      select r.end_offset
      from restored_text as r
      join found_text as f using (text_segment, text_number)
      where (f.stored_segment, f.stored_number) <> (f.text_segment, f.text_number)
    ) and text_numbers is not null`);
  if (!lines.every(({ line }) => isAsWritten(Buffer.from(line))))
    throw new Error('a list of lost texts names other texts than its page had');
}

/** Writes one line per row, with nothing quoted or escaped. */
async function writeLines(
  database: Database,
  query: string,
  file: string,
  files?: readonly string[],
): Promise<void> {
  await database.run(`copy (${query}) to $file (format csv, header false, delim '', quote '', escape '')`, {
    file,
    ...(files === undefined ? {} : { files }),
  });
  await chmod(file, 0o600);
  await syncFile(file);
}
