import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { type LandingRecord, type NewPage, renderLine, renderPage } from '../landing/writer.ts';
import { type Database, type DatabaseOptions, listColumns, openDatabase } from './database.ts';
import { type Group, listGroups, stagedHash } from './row-groups.ts';
import { createShapeMacros, maxLineBytes, shapeQuery } from './shape-query.ts';
import { quoteName } from './sql-text.ts';
import { readTableSpecs } from './table-spec.ts';

/** Answers whether records that were just received say anything new; knows what is published, nothing else. */
export interface KnownRows {
  /**
   * Whether every record is in its table as it is: with equal hashes of all groups that the answer carries, so
   * without the volatile columns. A record that becomes no row (without a usable key, or unreadable) says nothing:
   * it is never in the table, and counted as new it would make every night a full walk. Of such records only: false.
   */
  ask(page: NewPage, records: readonly LandingRecord[]): Promise<boolean>;
  /** The build may be opened for writing when this resolves. */
  close(): Promise<void>;
}

/**
 * Opens the build read-only with the first question, so that nothing is opened where nothing is asked. One question at
 * a time. The records go through the query that loads them, from two files as a segment has.
 */
export function openKnownRows(folder: DataFolder, options: Omit<DatabaseOptions, 'readOnly'>): KnownRows {
  const files = {
    pages: join(folder.temp, 'known.pages.ndjson'),
    records: join(folder.temp, 'known.ndjson'),
  };
  const queries = new Map<string, string>();
  let opened: Promise<Database> | null = null;
  let tail: Promise<unknown> = Promise.resolve();

  async function answer(page: NewPage, records: readonly LandingRecord[]): Promise<boolean> {
    opened ??= openBuildToRead(folder, options);
    const database = await opened;
    const sql = queries.get(page.shape) ?? (await knownSql(database, page.shape));
    queries.set(page.shape, sql);
    const { block, line } = renderPage(page, records, 0);
    await writeFile(files.records, block, { mode: 0o600 });
    await writeFile(files.pages, renderLine(line), { mode: 0o600 });
    const [row] = await database.rows<{ known: boolean }>(sql, {
      ...files,
      largest: maxLineBytes(line.longest),
    });
    return row?.known === true;
  }

  return {
    ask(page, records) {
      const answered = tail.then(() => answer(page, records));
      tail = answered.catch(() => undefined);
      return answered;
    },
    async close() {
      await tail;
      // An open that failed was told to the one who asked.
      const database = await opened?.catch(() => null);
      database?.close();
      await Promise.all(Object.values(files).map((file) => rm(file, { force: true })));
    },
  };
}

async function openBuildToRead(
  folder: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<Database> {
  const database = await openDatabase(folder.build, { ...options, readOnly: true });
  await createShapeMacros(database);
  return database;
}

/** `known`: whether the rows of all tables that a shape's records go to are in them; NULL when there are no rows. */
async function knownSql(database: Database, shape: string): Promise<string> {
  const [spec, ...others] = readTableSpecs().filter(({ shapes }) => shapes.includes(shape));
  if (spec === undefined || others.length > 0)
    throw new Error(`records of shape ${shape} do not go to exactly one table`);
  const columns = await listColumns(database, spec.name);
  const staged = await shapeQuery(database, spec, shape);
  const keys = spec.key.map(quoteName);
  return `
    select bool_and(t.seen_at is not null and ${listGroups(spec, columns).map(isUnchanged).join(' and ')}) as known
    from (${staged}) s
    left join ${spec.name} t on ${keys.map((key) => `t.${key} = s.${key}`).join(' and ')}
    where ${keys.map((key) => `s.${key} is not null`).join(' and ')}`;
}

function isUnchanged(group: Group): string {
  return `(not ${group.carried} or s.${stagedHash(group)} is not distinct from t.${group.hash})`;
}
