import { listOperations } from '../api/catalogue.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { formatTable } from './text-table.ts';
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
  createPrint(args)(formatTable(columns, rows), document);
  return 0;
}
