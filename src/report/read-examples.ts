import { quoteName, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** A row that a run brought, changed or closed. All of it comes from the data. */
export interface Example {
  key: string;
  /** Its name, or a change: `owner: A → B`. */
  text: string;
}

/** Examples of one table, at most five of each. */
export interface Examples {
  table: string;
  inserted: Example[];
  changed: Example[];
  gone: Example[];
}

type TextRow = Record<string, string | boolean | null>;

/** Columns that differ in every version. */
const bookkeeping =
  /^(slot|seen_at|first_seen_slot|changed_slot|changed_at|run_id|record_hash|followed|is_current|\w+_seen_at|\w+_slot)$/;

/** Longest value that is shown, characters. */
const maxText = 80;

/** Reads what one run did to a table that keeps its history. @param from, to ISO times of the run */
export async function readExamples(
  database: Database,
  spec: TableSpec,
  run: string,
  from: string,
  to: string,
): Promise<Examples> {
  const key = spec.key.map(quoteName).join(', ');
  const read = (file: string, params: Record<string, string>) =>
    database.rows<TextRow>(
      readSql(`report/${file}.sql`).replaceAll('{table}', spec.name).replaceAll('{key}', key),
      params,
    );
  const keyOf = (row: TextRow) => spec.key.map((column) => row[column] ?? '').join(' ');
  const changed = await read('changed-rows', { run });
  return {
    table: spec.name,
    inserted: (await read('new-rows', { run })).map((row) => ({ key: keyOf(row), text: describe(row) })),
    changed: changed
      .filter(({ is_current }) => is_current)
      .map((row) => {
        const former = changed.find((other) => !other.is_current && keyOf(other) === keyOf(row));
        return { key: keyOf(row), text: former === undefined ? describe(row) : describeChanges(former, row) };
      }),
    gone: (await read('gone-rows', { from, to })).map((row) => ({
      key: keyOf(row),
      text: `${row.gone_reason ?? ''}`.replaceAll('_', ' '),
    })),
  };
}

function describe(row: TextRow): string {
  const facts = ['name', 'collection', 'owner', 'mint', 'amount'].flatMap((column) =>
    row[column] == null ? [] : `${column} ${shorten(`${row[column]}`)}`,
  );
  return facts.slice(0, 3).join(', ');
}

/** The columns that differ, at most three of them by value; a hash says nothing to people. Pure. */
export function describeChanges(former: TextRow, current: TextRow): string {
  const differing = Object.keys(current).filter(
    (name) => !bookkeeping.test(name) && current[name] !== (former[name] ?? null),
  );
  const names = differing.filter((name) => !name.endsWith('_hash'));
  if (names.length === 0)
    return differing.map((name) => `${name.slice(0, -'_hash'.length)} changed`).join(', ');
  const changes = names
    .slice(0, 3)
    .map((name) => `${name}: ${textOf(former[name])} → ${textOf(current[name])}`);
  if (names.length > 3) changes.push(`and ${names.length - 3} more columns`);
  return changes.join(', ');
}

function textOf(value: string | boolean | null | undefined): string {
  return value == null ? 'none' : shorten(`${value}`);
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= maxText ? text : `${characters.slice(0, maxText - 1).join('')}…`;
}
