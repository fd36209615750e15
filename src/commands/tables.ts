import { UsageError } from '../errors.ts';
import { suggestion } from '../suggestion.ts';
import { describeModel, type TableDescription } from '../warehouse/model.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { formatTable } from './text-table.ts';
import type { Usage } from './usage.ts';

interface TablesArgs extends GlobalArgs {
  table?: string;
}

export const usage: Usage = {
  arguments: { '[table]': 'Only this table, with its columns' },
  examples: {
    'ledgerlake tables': 'Every table and view, with what it holds',
    'ledgerlake tables assets': 'Its columns, their types and meaning',
    'ledgerlake tables meta.checkpoints': "A table of the pipeline's own state",
    'ledgerlake tables --json': 'All of it as one document',
  },
  notes: 'The model as this version makes it; needs no data folder.',
};

export async function execute(args: TablesArgs): Promise<number> {
  const tables = await describeModel();
  const print = createPrint(args);
  if (args.table === undefined) {
    print(listTables(tables), tables);
    return 0;
  }
  const table = findTable(tables, args.table);
  print(describeTable(table), table);
  return 0;
}

/** One line a table. */
function listTables(tables: readonly TableDescription[]): string {
  const rows = tables.map(({ name, kind, columns, describe }) => [name, kind, `${columns.length}`, describe]);
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
  const rows = columns.map((column) => [column.name, column.type, column.describe]);
  const heads = [{ name: 'column' }, { name: 'type' }, { name: 'meaning' }];
  return `${name}: ${describe}\n${keyed}\n${formatTable(heads, rows)}`;
}

function findTable(tables: readonly TableDescription[], asked: string): TableDescription {
  const found = tables.find(({ name }) => name === asked.toLowerCase());
  if (found !== undefined) return found;
  const names = tables.map(({ name }) => name);
  throw new UsageError(
    `no table is called "${asked}"${suggestion(asked, names)}`,
    `The tables are ${names.join(', ')}.`,
  );
}
