import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { describeSegment } from '../landing/reader.ts';
import { recordFile } from '../landing/segment-files.ts';
import { createLoader } from '../load/load.ts';
import { readingOf } from '../load/shape-query.ts';
import { stagingFile } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import type { Database, SqlParams } from '../warehouse/database.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import type { KeptPage } from './find-pages.ts';
import { linkSegment } from './replay.ts';
import { restoreSegment } from './restore-segment.ts';

/** A record of a kept page, as today's mapping reads it for one table. */
export interface KeptRecord extends KeptPage {
  /** Its number in the page, from 0. */
  n: number;
  /** Groups of the row that it carries. */
  groups: string[];
  /** Its own text. */
  text: string;
}

/** A condition on a staged row `s`, with its parameters. */
export interface RecordFilter {
  sql: string;
  params: SqlParams;
}

/**
 * The records of some pages of one segment whose rows match a filter. The segment is restored to a temporary folder and typed,
 * so that keys which the mapping makes are found, too. The data folder is not changed.
 * @param database an in-memory one
 * @throws DiskError if the archive is damaged
 */
export async function findRecords(
  database: Database,
  folder: DataFolder,
  spec: TableSpec,
  pages: readonly KeptPage[],
  filter: RecordFilter,
): Promise<KeptRecord[]> {
  const [first] = pages;
  if (first === undefined) return [];
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-explain-'));
  const temporary = { ...folder, landing: join(root, 'landing'), staging: join(root, 'staging') };
  try {
    for (const dir of [temporary.landing, temporary.staging]) await mkdir(dir, { mode: 0o700 });
    if (first.kept === 'landing') await linkSegment(folder.landing, temporary.landing, first.segment);
    else await restoreSegment(database, folder.archive, temporary.landing, first.segment);
    const loader = await createLoader(database, temporary);
    if ((await loader.loadSegment(first.segment)) === 0) return [];
    return await readRecords(database, temporary, spec, pages, filter);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

interface FoundRow {
  task: string;
  crawl: string;
  page: bigint;
  n: bigint;
  groups: string[];
}

async function readRecords(
  database: Database,
  folder: DataFolder,
  spec: TableSpec,
  pages: readonly KeptPage[],
  { sql, params }: RecordFilter,
): Promise<KeptRecord[]> {
  const segment = pages[0]!.segment;
  // The first group is the base group, which every row carries.
  const carried = listGroups(spec, [])
    .slice(1)
    .map(({ name, carried: flag }) => `if(s.${flag}, '${name}', null)`);
  const rows = await database.rows<FoundRow>(
    `select s.task, s.crawl, s.page, s.n,
      list_filter(['base'${carried.map((one) => `, ${one}`).join('')}], lambda g: g is not null) as groups
    from read_parquet($files) s
    where ${sql}
    order by s.page, s.n`,
    { ...params, files: [stagingFile(folder, segment, spec.name)] },
  );
  const found: KeptRecord[] = [];
  for (const row of rows) {
    const page = pages.find(
      ({ line }) => line.task === row.task && line.crawl === row.crawl && line.page === Number(row.page),
    );
    if (page === undefined) continue;
    const n = Number(row.n);
    const text = await readText(database, folder, page, n);
    found.push({ ...page, n, groups: row.groups, text });
  }
  return found;
}

/** A record's own text, from the landing log. */
async function readText(
  database: Database,
  { landing }: DataFolder,
  { segment, line }: KeptPage,
  n: number,
): Promise<string> {
  const records = recordFile(landing, segment);
  const { largest } = readingOf({ ...(await describeSegment(landing, segment)), bytes: 0 });
  const [row] = await database.rows<{ line: string }>(readSql('explain/record-line.sql'), {
    records,
    largest,
    pattern: `^\\{"task":"${line.task}","crawl":"${line.crawl}","page":${line.page},"slot":[^,]*,"n":${n}[,}]`,
  });
  return row === undefined ? '' : recordText(row.line);
}

/** The record in a line of the log: `"record":…`, or `"raw":"…"` of one that DuckDB could not read. Pure. */
export function recordText(line: string): string {
  const head =
    /^\{"task":"[^"]*","crawl":"[^"]*","page":\d+,"slot":[^,]*,"n":\d+(?:,"key":"(?:[^"\\]|\\.)*")?,/.exec(
      line,
    );
  const rest = line.slice(head?.[0].length ?? 0, -1);
  const refused = /^"record":null,"refusal":"[^"]*","raw":/.exec(rest);
  if (refused !== null) return JSON.parse(rest.slice(refused[0].length)) as string;
  return rest.slice('"record":'.length);
}
