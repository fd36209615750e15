// The cases of the benchmark.
import {
  type Bench,
  type BenchCase,
  contestantsOf,
  type Options,
  script,
  sumRecords,
  targetsOf,
  warm,
} from './contestants.ts';
import { measure } from './measure.ts';
import { nightsCase } from './nights-cases.ts';
import { listTargets, type Target } from './records.ts';
import { warehouseCases } from './warehouse-cases.ts';

/** Small targets are numbered from here: the collections before them are large. */
const firstSmall = 1_000_000;

/** All that the server must know. */
export function listAllTargets(options: Options): Target[] {
  const warehouse = options.warehouse + options.rounds * options.next;
  return [
    ...targetsOf('asset', Math.max(options.assets, warehouse)),
    ...targetsOf('token_account', options.accounts),
    ...listTargets('asset', firstSmall, firstSmall + options.targets, 5),
  ];
}

export function listCases(bench: Bench): Record<string, BenchCase> {
  const { assets, accounts, targets, warehouse } = bench.options;
  return {
    assets: assetsCase(bench, targetsOf('asset', assets)),
    accounts: accountsCase(bench, targetsOf('token_account', accounts)),
    targets: targetsCase(bench, listTargets('asset', firstSmall, firstSmall + targets, 5)),
    nights: nightsCase(bench, targetsOf('asset', assets)),
    ...warehouseCases(bench, targetsOf('asset', warehouse)),
    start: startCase(),
  };
}

function assetsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  const { client, program } = contestantsOf(bench, targets);
  return {
    title: `${sumRecords(targets).toLocaleString('en-US')} assets of 2 KB, pages of 1,000`,
    floor: 'parse',
    prepare: () => warm(bench, targets),
    contestants: {
      http: client('http'),
      parse: client('parse'),
      peer: client('peer'),
      crawl: program('crawl', ['crawl']),
      run: program('run, without export', ['run']),
      export: program('run, with export', ['run'], true),
    },
  };
}

function accountsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  const { client, program } = contestantsOf(bench, targets);
  return {
    title: `${sumRecords(targets).toLocaleString('en-US')} token accounts of 0.25 KB, pages of 1,000`,
    floor: 'parse',
    prepare: () => warm(bench, targets),
    contestants: {
      http: client('http'),
      parse: client('parse'),
      peer: client('peer'),
      rows: program('crawl, then load: typed rows', ['crawl', 'load']),
      run: program('run, without export', ['run']),
    },
  };
}

function targetsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  const { client, program } = contestantsOf(bench, targets);
  return {
    title: `${targets.length.toLocaleString('en-US')} targets of 5 assets, two requests each`,
    floor: 'http',
    prepare: () => warm(bench, targets),
    contestants: {
      http: client('http'),
      crawl: program('crawl', ['crawl']),
      run: program('run, without export', ['run']),
    },
  };
}

function startCase(): BenchCase {
  return {
    title: 'Starting',
    floor: 'node',
    prepare: async () => {},
    contestants: {
      node: { name: 'node -e 0', turn: async () => ({ ...(await measure(['-e', '0'])), rows: 0 }) },
      version: {
        name: 'ledgerlake --version',
        turn: async () => ({ ...(await measure([script('../dist/cli.js'), '--version'])), rows: 0 }),
      },
    },
  };
}
