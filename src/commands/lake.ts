import { makeDataFolder } from '../data-folder.ts';
import { installLake, vacuumLake } from '../run/lake-stage.ts';
import { takeRunLock } from '../warehouse/run-lock.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { readDuration } from './run-options.ts';
import type { Usage } from './usage.ts';

interface LakeArgs extends GlobalArgs {
  action: 'install' | 'vacuum';
  olderThan: string;
  dryRun: boolean;
}

/** Arguments and options of `ledgerlake lake`. */
export const usage: Usage = {
  arguments: {
    '<action>': {
      describe:
        'install: fetch DuckDB’s extensions for lake.format; vacuum: remove what no kept version needs',
      choices: ['install', 'vacuum'],
    },
  },
  options: {
    '--older-than <duration>': {
      describe: 'vacuum: of a DuckLake, versions older than this; Parquet keeps lake.keep exports',
      default: '7d',
    },
    '--dry-run': 'vacuum: only list what would be removed',
  },
  examples: {
    'ledgerlake lake install': 'Once, where there is a network: a night fetches nothing',
    'ledgerlake lake vacuum --dry-run': 'What could go',
  },
  notes: 'docs/lake.md says which format suits whom, and how readers open it.',
};

/** `ledgerlake lake install|vacuum`. */
export async function execute(args: LakeArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  if (args.action === 'install') {
    const files = await installLake(context);
    const lines = [...files].map(([name, file]) => `${name}: ${file}`);
    context.print(
      lines.length === 0 ? 'Parquet needs no extension' : lines.join('\n'),
      Object.fromEntries(files),
    );
    return 0;
  }
  const olderThanMs = readDuration('--older-than', args.olderThan);
  await makeDataFolder(context.folder);
  const lock = await takeRunLock(context.folder.lock, context.folder.temp);
  try {
    const removed = await vacuumLake(context, { olderThanMs, dryRun: args.dryRun });
    context.print(removed.length === 0 ? 'nothing to remove' : removed.join('\n'), {
      dryRun: args.dryRun,
      removed,
    });
    return 0;
  } finally {
    lock.release();
  }
}
