import { readFileSync } from 'node:fs';
import { packageRoot } from '../package-root.ts';
import { listOptions, readPath } from './usage.ts';

export const programName = 'ledgerlake';

export const programDescription =
  'Crawls a ledger-data API into DuckDB and Parquet: exact, resumable, never paying for a page twice.\n\nEnvironment: LEDGERLAKE_RPC_URL and LEDGERLAKE_API_KEY. To try it without an API: --sample.';

/** Options that every command takes, before its name or after it. */
export const programOptions = listOptions({
  options: {
    '--config <file>': { describe: 'Config file (default: ledgerlake.yaml when present)', read: readPath },
    '--env <name>': 'Environment of the config file (default: LEDGERLAKE_ENV)',
    '--data-dir <folder>': {
      describe: 'Folder for everything the runs write (default: data; data/<name> in an environment)',
      read: readPath,
    },
    '--jobs-dir <folder>': { describe: 'Folder of the job files', read: readPath, default: 'jobs' },
    '--sample': 'Sample data from the API inside the program, instead of an API',
    '--json': 'One JSON document on stdout',
    '--log-level <level>': {
      describe: 'Lowest level of log lines on stderr',
      choices: ['debug', 'info', 'warn', 'error', 'silent'],
      default: 'info',
    },
    '--log-format <format>': {
      describe: 'Log lines as text or JSON (default: text on a terminal, else json)',
      choices: ['json', 'text'],
    },
    '--no-progress': 'Log lines instead of progress lines on a terminal',
    '--version': 'Show the version',
    '-h, --help': 'Show this help',
  },
});

/** Version in package.json. */
export function readVersion(): string {
  const text = readFileSync(new URL('package.json', packageRoot), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
