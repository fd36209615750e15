import { makeDataFolder } from '../data-folder.ts';
import type { ExportResult } from '../export/export-options.ts';
import { exportSnapshot } from '../run/export-stage.ts';
import { untilStopped } from '../stop-signals.ts';
import { requireSnapshot } from '../warehouse/open-snapshot.ts';
import { takeRunLock } from '../warehouse/run-lock.ts';
import { formatBytes, formatCount } from '../words.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { formatTable } from './text-table.ts';
import type { Usage } from './usage.ts';

interface ExportArgs extends GlobalArgs {
  full: boolean;
  table: string[];
}

export const usage: Usage = {
  arguments: { '[table...]': 'Tables to write (default: lake.tables of the config, else all)' },
  options: {
    '--full': 'A lake in a catalog: compare every value with the lake, not only what tells a change',
  },
  examples: {
    'ledgerlake export': 'Every table that changed since its last export',
    'ledgerlake export assets token_accounts': 'Two tables',
    'ledgerlake export --json | jq -r ".[].path"': 'What readers open: a folder a table',
  },
  notes: 'Readers open <lake>/<table>; <lake>/_manifests/<table>.json lists its files and checksums.',
};

export async function execute(args: ExportArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { folder } = context;
  await requireSnapshot(folder.snapshot);
  await makeDataFolder(folder);
  const lock = await takeRunLock(folder.lock, folder.temp);
  try {
    const tables = args.table.length > 0 ? args.table : null;
    const results = await untilStopped((signal) =>
      exportSnapshot(context, { tables, full: args.full, signal }),
    );
    context.print(describeResults(results), results);
    return 0;
  } finally {
    lock.release();
  }
}

/** What was written, and what did not need to be. */
export function describeResults(results: readonly ExportResult[]): string {
  const rows = results.map(({ table, rows, bytes, files, written, path, changed }) => [
    table,
    formatCount(rows),
    written ? (changed === undefined ? formatBytes(bytes) : `${formatCount(changed)} changed`) : 'unchanged',
    written && files > 0 ? formatCount(files) : '',
    path,
  ]);
  return formatTable(
    [
      { name: 'table' },
      { name: 'rows', right: true },
      { name: 'size', right: true },
      { name: 'files', right: true },
      { name: 'path' },
    ],
    rows,
  );
}
