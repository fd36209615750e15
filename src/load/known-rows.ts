import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { asDiskError } from '../errors.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import { type NewPage, renderLine, renderPage, type SegmentForms } from '../landing/render-page.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { type Database, listColumns, openDatabase } from '../warehouse/database.ts';
import { memoryLimits } from '../warehouse/memory.ts';
import { type Group, listGroups, stagedHash } from '../warehouse/row-groups.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { findRecognised, type Received } from './recognised-records.ts';
import { blamingMapping, createShapeMacros, readingOf, shapeQuery } from './shape-query.ts';

/** Answers whether received records are already in the tables. It compares with what is published only. */
export interface KnownRows {
  /**
   * Whether every record is in its table unchanged: with equal hashes of all groups that the answer carries, so without the
   * volatile columns. A row that changed after `seenSlot`, the highest slot of the target's last crawl, is not known: another
   * job changed it, which says nothing about the rows below it. A record that becomes no row (without a usable key, or
   * unreadable) is ignored: it is never in the table, and counted as new it would make every night a full crawl. False for a
   * page with no other records, and for one of unusually long records, which is not compared.
   */
  ask(page: NewPage, records: readonly LandingRecord[], seenSlot: number | null): Promise<boolean>;
  /** When this resolves, the build may be opened for writing. */
  close(): Promise<void>;
}

/**
 * Most bytes of the records of one question, and of a batch: 200 assets have half a megabyte, and DuckDB holds about ten times
 * as much while it reads them.
 */
const maxQuestionBytes = 4 << 20;
const maxBatchBytes = 8 << 20;

interface Question extends Received {
  bytes: number;
  resolve(known: boolean): void;
  reject(error: unknown): void;
}

/**
 * Opens the build read-only with the first question. An answer scans the whole table, so questions that come meanwhile (one
 * per task) are answered together. Their records go through the query that loads them, from two files like a segment's.
 */
export function openKnownRows(folder: DataFolder): KnownRows {
  const files = {
    pages: join(folder.temp, 'known.pages.ndjson'),
    records: join(folder.temp, 'known.ndjson'),
  };
  const statements = new Map<string, KnownRecordsSql>();
  const queue: Question[] = [];
  let opened: Promise<Database> | null = null;
  let working: Promise<void> | null = null;

  async function answerAll(): Promise<void> {
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      const { shape } = first.page;
      const questions = takeBatch(queue);
      try {
        const known = await findKnown(shape, questions);
        for (const { page, resolve } of questions) resolve(known.has(page.task));
      } catch (error) {
        for (const { reject } of questions) reject(error);
      }
    }
    working = null;
  }

  /** Tasks of these questions whose pages are known. */
  async function findKnown(shape: string, questions: readonly Question[]): Promise<Set<string>> {
    opened ??= openBuildToRead(folder);
    const database = await opened;
    const spec = tableOf(shape);
    const recognised = await findRecognised(database, spec, questions);
    const others = questions.filter(({ page }) => !recognised.has(page.task));
    return others.length === 0
      ? recognised
      : new Set([...recognised, ...(await compareRows(database, spec, others))]);
  }

  /** Tasks whose rows are unchanged although their texts differ: in volatile columns, slots, or members that make no row. */
  async function compareRows(
    database: Database,
    spec: TableSpec,
    questions: readonly Question[],
  ): Promise<Set<string>> {
    const shape = questions[0]!.page.shape;
    const sql = statements.get(shape) ?? (await knownRecordsSql(database, spec, shape));
    statements.set(shape, sql);
    const records = await writePages(files, questions);
    await blamingMapping(sql.spec, shape, () =>
      database.run(sql.received, { ...files, ...readingOf(records) }),
    );
    const rows = await database.rows<{ task: string }>(sql.known(questions));
    return new Set(rows.map(({ task }) => task));
  }

  return {
    async ask(page, records, seenSlot) {
      const bytes = records.reduce((sum, record) => sum + record.bytes.length, 0);
      if (bytes > maxQuestionBytes) return false;
      return new Promise((resolve, reject) => {
        queue.push({ bytes, page, records, seenSlot, resolve, reject });
        working ??= answerAll();
      });
    },
    async close() {
      await working;
      // A failure to open has rejected the question.
      const database = await opened?.catch(() => null);
      database?.close();
      await Promise.all(Object.values(files).map((file) => rm(file, { force: true })));
    },
  };
}

/** Removes the questions that are answered next from the queue: those of the first one's shape, up to `maxBatchBytes`. */
function takeBatch(queue: Question[]): Question[] {
  const [first] = queue;
  let bytes = 0;
  const fits = (question: Question) => {
    if (question.page.shape !== first?.page.shape || bytes + question.bytes > maxBatchBytes) return false;
    bytes += question.bytes;
    return true;
  };
  const batch = queue.filter(fits);
  const chosen = new Set(batch);
  queue.splice(0, queue.length, ...queue.filter((question) => !chosen.has(question)));
  return batch;
}

async function openBuildToRead(folder: DataFolder): Promise<Database> {
  const options = { memoryLimit: memoryLimits.knownRows, threads: 1, tempDir: folder.temp, readOnly: true };
  const database = await openDatabase(folder.build, options);
  await createShapeMacros(database);
  return database;
}

/**
 * Writes pages as a segment holds them.
 * @returns the arguments of `readingOf`
 * @throws DiskError
 */
async function writePages(
  files: { pages: string; records: string },
  questions: readonly Question[],
): Promise<{ longest: number; bytes: number; count: number }> {
  const forms: SegmentForms = new Map();
  const rendered = questions.map(({ page, records }) => renderPage(page, records, 0, forms));
  // Without envelopes, which make no rows and may be large.
  const lines = rendered.map(({ line }) => ({ ...line, envelope: '' }));
  try {
    await writeFile(files.records, Buffer.concat(rendered.map(({ block }) => block)), { mode: 0o600 });
    await writeFile(files.pages, lines.map(renderLine).join(''), { mode: 0o600 });
  } catch (error) {
    throw asDiskError(error);
  }
  return {
    longest: Math.max(...rendered.map(({ line }) => line.longest)),
    bytes: rendered.reduce((sum, { block }) => sum + block.length, 0),
    count: rendered.reduce((sum, { line }) => sum + line.records, 0),
  };
}

interface KnownRecordsSql {
  spec: TableSpec;
  /**
   * Makes `received`, the keys and hashes of the pages' rows; takes the loading query's parameters. It is a table so that
   * DuckDB knows how few rows it has and scans the big table for them, instead of holding that in memory.
   */
  received: string;
  /** Selects tasks whose rows are all in their table, unchanged since their target was last seen. */
  known(questions: readonly Question[]): string;
}

function tableOf(shape: string): TableSpec {
  const [spec, ...others] = readTableSpecs().filter(({ shapes }) => shapes.includes(shape));
  if (spec === undefined || others.length > 0)
    throw new Error(`records of shape ${shape} do not go to exactly one table`);
  return spec;
}

async function knownRecordsSql(database: Database, spec: TableSpec, shape: string): Promise<KnownRecordsSql> {
  const groups = listGroups(spec, await listColumns(database, spec.name));
  const keys = spec.key.map(quoteName);
  const narrow = groups.flatMap((group) => [`${group.carried} as carries_${group.name}`, stagedHash(group)]);
  const columns = ['task', ...keys, ...narrow].join(', ');
  return {
    spec,
    // All on the mapping's first line, so that line numbers in DuckDB's errors are those of the mapping.
    received: `create or replace temp table received as select ${columns} from (${await shapeQuery(database, spec, shape)})
      where ${keys.map((key) => `${key} is not null`).join(' and ')}`,
    known: (questions) => `
      select s.task
      from received s
      join (values ${questions.map(questionRow).join(', ')}) asked (task, seen_slot) on asked.task = s.task
      left join ${spec.name} t on ${keys.map((key) => `t.${key} = s.${key}`).join(' and ')}
      group by s.task
      having bool_and(
        t.seen_at is not null
        and (t.changed_slot <= asked.seen_slot) is not false
        and ${groups.map(hasSameGroup).join(' and ')}
      )`,
  };
}

function questionRow({ page, seenSlot }: Question): string {
  return `(${quoteText(page.task)}, ${seenSlot}::bigint)`;
}

function hasSameGroup(group: Group): string {
  return `(not s.carries_${group.name} or s.${stagedHash(group)} is not distinct from t.${group.hash})`;
}
