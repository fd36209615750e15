import { UsageError } from '../errors.ts';
import { type MergeEngine, mergeStatement } from '../export/merge-statement.ts';
import { listTableSql } from '../publish/table-sql.ts';
import { suggestion } from '../suggestion.ts';
import { describeModel, type TableDescription, withEmptyTables } from '../warehouse/model.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { createPrint, type GlobalArgs, openConfig } from './context.ts';
import { formatEntries, formatTable, terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';

interface TablesArgs extends GlobalArgs {
  table?: string;
  sql: boolean;
  merge?: MergeEngine;
}

export const usage: Usage = {
  arguments: { '[table]': 'Only this table, with its columns' },
  options: {
    '--sql': 'The SQL generated for the table: mapping, hashes, merge',
    '--merge <engine>': {
      describe: 'The MERGE that applies <table>_changes of the lake (lake.changes)',
      choices: ['spark', 'trino'],
    },
  },
  examples: {
    'ledgerlake tables': 'Every table and view, with what it holds',
    'ledgerlake tables assets': 'The columns of a table, their types and meaning',
    'ledgerlake tables meta.checkpoints': "A table of the pipeline's own state",
    'ledgerlake tables assets --sql': 'How its records become rows, and how publish applies them',
    'ledgerlake tables assets --merge spark': 'To keep the table by Spark, from lake.changes',
    'ledgerlake tables --json': 'All of it as one document',
  },
  notes: 'The model of this version; needs no data folder.',
};

export async function execute(args: TablesArgs): Promise<number> {
  const tables = await describeModel();
  const print = createPrint(args);
  if (args.sql) return printSql(args, tables);
  if (args.table === undefined) {
    print(listTables(tables), tables);
    return 0;
  }
  const table = findTable(tables, args.table);
  if (args.merge !== undefined) {
    const { namespace } = (await openConfig(args, false)).lake.catalog;
    const columns = table.columns.map(({ name, type }) => ({ name, type, lakeType: type }));
    if (table.key.length === 0)
      throw new UsageError(
        `${table.name} has no key, so it has no changes`,
        'Name a table of `ledgerlake tables`.',
      );
    const sql = mergeStatement({ name: table.name, columns, rows: 0 }, namespace, args.merge);
    print(sql, { sql });
    return 0;
  }
  print(describeTable(table), table);
  return 0;
}

/** One line a table. */
function listTables(tables: readonly TableDescription[]): string {
  const rows = tables.map(({ name, kind, columns, describe }) => [name, kind, `${columns.length}`, describe]);
  const width = terminalWidth();
  if (width !== null) {
    const entries = tables.map(({ name, kind, columns, describe }) => {
      return { head: `${name} (${kind}, ${columns.length} columns)`, text: describe };
    });
    return `${formatEntries(entries, width)}\nColumns: ledgerlake tables <table>`;
  }
  const heads = [
    { name: 'table' },
    { name: 'kind' },
    { name: 'columns', right: true },
    { name: 'what it holds' },
  ];
  return `${formatTable(heads, rows)}\nColumns: ledgerlake tables <table>`;
}

function describeTable({ name, describe, key, columns }: TableDescription): string {
  const keyed = key.length === 0 ? '' : `Key: ${key.join(', ')}\n`;
  const width = terminalWidth();
  if (width !== null) {
    const entries = columns.map((column) => ({
      head: `${column.name} ${column.type}`,
      text: column.describe,
    }));
    return `${formatEntries([{ head: name, text: describe }], width)}${keyed}\n${formatEntries(entries, width)}`;
  }
  const rows = columns.map((column) => [column.name, column.type, column.describe]);
  const heads = [{ name: 'column' }, { name: 'type' }, { name: 'meaning' }];
  return `${name}: ${describe}\n${keyed}\n${formatTable(heads, rows)}`;
}

/** All SQL of one table, each part under its purpose. */
async function printSql(args: TablesArgs, tables: readonly TableDescription[]): Promise<number> {
  if (args.table === undefined)
    throw new UsageError('--sql takes a table', 'For example: ledgerlake tables assets --sql');
  const { name } = findTable(tables, args.table);
  const spec = readTableSpecs().find((spec) => spec.name === name);
  if (spec === undefined)
    throw new UsageError(
      `no SQL is generated for ${name}: sql/ holds it as written`,
      `Tables with generated SQL: ${readTableSpecs()
        .map((spec) => spec.name)
        .join(', ')}.`,
    );
  const parts = await withEmptyTables((database) => listTableSql(database, spec));
  const text = parts.map(({ part, sql }) => `-- ${name}: ${part}\n${sql}\n`).join('\n');
  createPrint(args)(text, { table: name, sql: parts });
  return 0;
}

function findTable(tables: readonly TableDescription[], wanted: string): TableDescription {
  const found = tables.find(({ name }) => name === wanted.toLowerCase());
  if (found !== undefined) return found;
  const names = tables.map(({ name }) => name);
  throw new UsageError(
    `no table is called "${wanted}"${suggestion(wanted, names)}`,
    `The tables are ${names.join(', ')}.`,
  );
}
