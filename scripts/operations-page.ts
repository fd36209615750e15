import { listOperations } from '../src/operations/catalogue.ts';
import type { Operation } from '../src/operations/operation.ts';

/** The table of docs/reference/operations.md, with one row per operation of the catalogue. */
export function operationTable(): string {
  const head = ['operation', 'interface', 'paging', 'limit', 'pool', 'credits', 'table', 'called by'];
  const rows = listOperations().map((operation) => [
    `[\`${operation.name}\`](#${operation.name.toLowerCase()})`,
    operation.rest === undefined ? 'JSON-RPC' : `${operation.rest.method} \`${operation.rest.path}\``,
    pagingWords(operation),
    operation.limit === null ? '' : String(operation.limit),
    operation.pool,
    String(operation.credits),
    `[\`${operation.table}\`](tables.md#${operation.table})`,
    operation.transport === 'webhook'
      ? '`webhook`, into its table; `call`, which keeps nothing'
      : '`call`, jobs',
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** An operation's paging and its parameter, as Markdown. */
export function pagingWords({ paging, cursorParam = 'cursor', batchParam }: Operation): string {
  switch (paging) {
    case 'keyset':
      return '`cursor`, else `page`';
    case 'cursor':
      return `\`${cursorParam}\``;
    case 'feed':
      return `\`${cursorParam}\`, newest first`;
    case 'pages':
      return '`page`';
    case 'batch':
      return `slices of \`${batchParam}\``;
    case 'none':
      return 'one answer';
  }
}
