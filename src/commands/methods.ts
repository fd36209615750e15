import { listOperations } from '../operations/catalogue.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { formatEntries, formatTable, terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';

export const usage: Usage = {
  examples: {
    'ledgerlake methods': 'Every operation, what it costs and where its records go',
    'ledgerlake methods --json | jq -r ".[].name"': 'Their names',
  },
  notes: 'credits: what one call costs; api.credits in the config corrects it for your plan.',
};

export async function execute(args: GlobalArgs): Promise<number> {
  const operations = listOperations();
  const columns = [
    { name: 'operation' },
    { name: 'paging' },
    { name: 'limit', right: true },
    { name: 'pool' },
    { name: 'credits', right: true },
    { name: 'table' },
    { name: 'what it brings' },
  ];
  const rows = operations.map(({ name, paging, limit, pool, credits, table, describe }) => [
    name,
    paging,
    `${limit ?? ''}`,
    pool,
    `${credits}`,
    table,
    describe,
  ]);
  const document = operations.map(({ name, transport, paging, limit, pool, credits, table }) => {
    return { name, transport, paging, limit, pool, credits, table };
  });
  const width = terminalWidth();
  const entries = operations.map(({ name, paging, limit, pool, credits, table, describe }) => {
    const facts = [
      paging,
      ...(limit === undefined ? [] : [`${limit} a request`]),
      pool,
      `${credits} credits`,
    ];
    return { head: `${name}: ${facts.join(', ')}`, text: `${describe}. Into ${table}.` };
  });
  createPrint(args)(width === null ? formatTable(columns, rows) : formatEntries(entries, width), document);
  return 0;
}
