import { listSql, readSql } from '../sql-text.ts';
import { readTableSpecs, type TableSpec } from './table-spec.ts';

/** A list operation whose complete crawls show all rows of their target (`sql/members/<operation>.sql`). */
export interface MemberList {
  operation: string;
  table: TableSpec;
  /**
   * SQL of the rows that crawls in `listed` should show: (task, crawl, key, slot, seen_at, gone_reason).
   * @param rows a relation with the table's columns to look in. Default: the table
   */
  sql(rows?: string): string;
  /** The operation that looks up a missing row by its key; null if there is none. */
  lookup: string | null;
}

/** Rows of a table that crawls requested by key (`sql/asked/<table>.sql`). */
export interface RequestedRows {
  table: TableSpec;
  /** SQL of the keys by ready crawl: (task, crawl, page, key). */
  sql: string;
  /** The table that the answers' records go to. */
  answers: TableSpec;
}

let memberLists: readonly MemberList[] | null = null;
let requestedRows: readonly RequestedRows[] | null = null;

/** Every file of `sql/members/`; read once a process. */
export function readMemberLists(): readonly MemberList[] {
  memberLists ??= listSql('members').map((operation) => {
    const sql = readSql(`members/${operation}.sql`);
    const lookup = /^-- lookup: (\w+)$/m.exec(sql)?.[1] ?? null;
    const table = readTable(`members/${operation}.sql`, sql, 'table');
    return { operation, table, lookup, sql: (rows = table.name) => sql.replaceAll('{rows}', rows) };
  });
  return memberLists;
}

/** Every file of `sql/asked/`; read once a process. */
export function readRequestedRows(): readonly RequestedRows[] {
  requestedRows ??= listSql('asked').map((name) => {
    const sql = readSql(`asked/${name}.sql`);
    const of = (word: string) => readTable(`asked/${name}.sql`, sql, word);
    return { table: of('table'), sql, answers: of('answered in') };
  });
  return requestedRows;
}

/** The table that a header's line names. */
function readTable(file: string, sql: string, word: string): TableSpec {
  const name = new RegExp(`^-- ${word}: (\\w+)$`, 'm').exec(sql)?.[1];
  const table = readTableSpecs().find((spec) => spec.name === name);
  if (table === undefined) throw new Error(`sql/${file} has no "-- ${word}:" line of a known table`);
  return table;
}

/** One list for each table, because all lists of a table have the same look-up. */
export function distinctTables(lists: readonly MemberList[]): MemberList[] {
  return [...new Map(lists.map((list) => [list.table.name, list])).values()];
}

/** A row's key as one text. @param row alias of the row */
export function keyText(spec: TableSpec, row: string): string {
  const columns = spec.key.map((column) => `${row}.${column}`);
  return columns.length === 1 ? (columns[0] as string) : `concat_ws('/', ${columns.join(', ')})`;
}
