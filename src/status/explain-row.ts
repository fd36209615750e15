import { findPages, type KeptPage } from '../archive/find-pages.ts';
import { findRecords, type KeptRecord } from '../archive/find-records.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { PageLine } from '../landing/page-line.ts';
import { readSql } from '../sql-text.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import {
  type AbsentRow,
  type AnsweredPage,
  type Explanation,
  explainWhy,
  type RowAnswer,
} from './explanation.ts';
import { readQuarantine, withSnapshot } from './quarantine.ts';
import { findKey, type RowVersion, readVersions } from './row-versions.ts';

/**
 * Where a row comes from and why it is as it is. Reads the snapshot, the archive and the landing log; takes no lock.
 * @param key values of the key columns, in order; the last ones may be missing where the others identify one row
 * @param all whether to find the answers behind former versions, too
 * @throws UsageError for a table or key that does not exist, or an ambiguous key
 */
export async function explainRow(
  folder: DataFolder,
  table: string,
  key: readonly string[],
  all: boolean,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<Explanation> {
  const spec = requireTable(table);
  return withSnapshot(folder, options, async (snapshot) => {
    const full = await findKey(snapshot, spec, key);
    const keyText = full.join('/');
    const versions = await readVersions(snapshot, spec, full);
    const quarantine = await readQuarantine(snapshot, { table: spec.name, key: keyText });
    if (versions.length === 0 && quarantine.length === 0) throw noRow(spec, keyText);
    const segments = await readTableSegments(snapshot, spec);
    const answers = await findAnswers(folder, spec, full, wantedTimes(versions, all), segments, options);
    const [absent = null] = await snapshot.rows<AbsentRow>(readSql('explain/absent.sql'), {
      table: spec.name,
      key: keyText,
    });
    const targets = answers.flatMap(({ page }) => (page === null ? [] : `${page.job}/${page.target}`));
    const held = await snapshot.rows<Explanation['held'][number]>(readSql('explain/held.sql'), { targets });
    const facts = {
      table: spec.name,
      key: Object.fromEntries(spec.key.map((column, n) => [column, full[n]!])),
      state: stateOf(versions),
      versions,
      answers,
      quarantine,
      absent,
      held,
    };
    return { ...facts, reasons: explainWhy(facts) };
  });
}

function stateOf([newest]: readonly RowVersion[]): Explanation['state'] {
  if (newest === undefined) return 'not in the table';
  return newest.valid_to === null ? 'current' : 'gone';
}

function requireTable(table: string): TableSpec {
  const specs = readTableSpecs();
  const spec = specs.find(({ name }) => name === table || `${name}_history` === table);
  if (spec !== undefined) return spec;
  throw new UsageError(
    `there is no table "${table}" whose rows can be explained`,
    `The tables are ${specs.map(({ name }) => name).join(', ')}.`,
  );
}

function noRow({ name }: TableSpec, key: string): UsageError {
  return new UsageError(
    `${name} has no row ${key}, never had one, and nothing of it is in quarantine`,
    `See which rows there are: ledgerlake sql "from ${name} limit 10"`,
  );
}

/** The published segments whose records go to a table. */
async function readTableSegments(snapshot: Database, spec: TableSpec): Promise<ReadonlySet<number>> {
  const rows = await snapshot.rows<{ segment: bigint }>(
    'select segment from meta.segments where shape in (select unnest($shapes))',
    { shapes: [...spec.shapes] },
  );
  return new Set(rows.map(({ segment }) => Number(segment)));
}

/** The times of the answers to find, each with its meaning for the row. Pure. */
export function wantedTimes(versions: readonly RowVersion[], all: boolean): Map<string, string[]> {
  const wanted = new Map<string, string[]>();
  const add = (at: string | null | undefined, of: string) => {
    if (at != null) wanted.set(at, [...(wanted.get(at) ?? []), of]);
  };
  for (const [n, version] of versions.entries()) {
    if (n > 0 && !all) break;
    if (n > 0) {
      add(version.valid_from, `version of ${version.valid_from}`);
      continue;
    }
    add(version.valid_from, 'last change');
    add(version.seen.base, 'last seen');
    for (const [group, at] of Object.entries(version.seen))
      if (group !== 'base') add(at, `${group} last seen`);
  }
  return wanted;
}

/** Finds the answers by their times, from the newest segment to the oldest, until none is missing. */
async function findAnswers(
  folder: DataFolder,
  spec: TableSpec,
  key: readonly string[],
  wanted: ReadonlyMap<string, string[]>,
  segments: ReadonlySet<number>,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<RowAnswer[]> {
  const records: KeptRecord[] = [];
  const isMissing = (at: string) => !records.some(({ line }) => line.received_at === at);
  const times = [...wanted.keys()];
  const database = await openDatabase(':memory:', options);
  try {
    const pattern = `"received_at":"(${times.map((at) => at.replaceAll('.', '\\.')).join('|')})"`;
    for await (const pages of times.length === 0 ? [] : findPages(database, folder, segments, pattern)) {
      for (const segmentPages of groupBySegment(pages)) {
        const open = segmentPages.filter(({ line }) => isMissing(line.received_at));
        records.push(...(await findRecords(database, folder, spec, open, keyFilter(spec, key))));
      }
      if (!times.some(isMissing)) break;
    }
  } finally {
    database.close();
  }
  return times
    .sort()
    .reverse()
    .flatMap((at): RowAnswer[] => {
      const of = wanted.get(at)!;
      const matches = records.filter(({ line }) => line.received_at === at);
      if (matches.length === 0) return [{ of, received_at: at, page: null }];
      return matches.map((record) => ({ of, received_at: at, page: describePage(record) }));
    });
}

function keyFilter(spec: TableSpec, key: readonly string[]): { sql: string; params: Record<string, string> } {
  const sql = spec.key.map((column, n) => `s."${column}"::varchar = $key_${n}`).join(' and ');
  return { sql, params: Object.fromEntries(key.map((value, n) => [`key_${n}`, value])) };
}

function groupBySegment(pages: readonly KeptPage[]): KeptPage[][] {
  const segments = new Map<number, KeptPage[]>();
  for (const page of pages) segments.set(page.segment, [...(segments.get(page.segment) ?? []), page]);
  return [...segments.values()];
}

/** The parameters of a page's request, from its line. Pure. */
export function requestOf({ params, position }: PageLine): Record<string, unknown> {
  const { after, before, ...paging } = position ?? {};
  return {
    ...params,
    ...paging,
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  };
}

function describePage({ segment, kept, line, n, groups, text }: KeptRecord): AnsweredPage {
  const { run, job, target, operation, task, crawl, page, slot } = line;
  return {
    ...{ run, job, target, operation, request: requestOf(line), task, crawl, page, slot },
    ...{ segment, kept, record: n, carries: groups, text },
  };
}
