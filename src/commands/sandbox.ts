import { UsageError } from '../errors.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/server.ts';
import { listenForSignals } from '../stop-signals.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { readNumber, type Usage } from './usage.ts';

interface SandboxArgs extends GlobalArgs {
  port: number;
  seed: number;
  assets: number;
  owners: number;
  rps: number;
  burst?: number;
  latency: number;
  faultRate: number;
  pageOnly: boolean;
  slot?: number;
  tick: number;
}

export const usage: Usage = {
  options: {
    '--port <n>': { describe: 'TCP port on 127.0.0.1; 0 takes a free one', read: readNumber, default: 8899 },
    '--seed <n>': { describe: 'Seed of the generated ledger', read: readNumber, default: 1 },
    '--assets <n>': { describe: 'Number of assets', read: readNumber, default: 30_000 },
    '--owners <n>': { describe: 'Number of owners', read: readNumber, default: 5000 },
    '--rps <n>': {
      describe: 'Requests a second and pool before 429; 0: no limit',
      read: readNumber,
      default: 0,
    },
    '--burst <n>': { describe: 'Requests that may come at once (default: rps)', read: readNumber },
    '--latency <ms>': { describe: 'Milliseconds that every answer is delayed', read: readNumber, default: 0 },
    '--fault-rate <share>': {
      describe: 'Share of requests that fail, 0 to 1',
      read: readNumber,
      default: 0,
    },
    '--page-only': 'Lists page by number, without cursors',
    '--slot <n>': {
      describe: 'Start at this slot, to be above the last one of a former sandbox',
      read: readNumber,
    },
    '--tick <n>': {
      describe: 'Move the content this many times before serving',
      read: readNumber,
      default: 0,
    },
  },
  examples: {
    'ledgerlake sandbox': 'Serve it; run ledgerlake in another terminal with the variables it prints',
    'ledgerlake sandbox --rps 10 --fault-rate 0.05': 'An API with a limit that fails now and then',
  },
  notes:
    'Content moves on request too: curl -X POST http://127.0.0.1:8899/_sandbox/tick -d \'{"n":1}\'. With --sample, run, crawl and call start a sandbox of their own.',
};

export async function execute(args: SandboxArgs): Promise<number> {
  const options = readOptions(args);
  const stopped = untilSignal();
  const sandbox = await startSandbox(options).catch((error) => {
    throw asUsageError(error, args.port);
  });
  try {
    while (sandbox.world.slot < (args.slot ?? 0)) sandbox.world.advanceSlot();
    if (args.tick > 0) sandbox.tick(args.tick);
    const { url } = sandbox;
    createPrint(args)(describeSandbox(sandbox), { url, key, seed: options.seed, slot: sandbox.world.slot });
    await stopped;
    return 0;
  } finally {
    await sandbox.close();
  }
}

const key = 'sandbox';

/** What to type in another terminal. */
function describeSandbox({ url }: Sandbox): string {
  return [
    `The sandbox serves sample data at ${url} until Ctrl-C. To use it, in another terminal:`,
    '',
    `export LEDGERLAKE_RPC_URL=${url}`,
    `export LEDGERLAKE_WALLET_URL=${url}`,
    `export LEDGERLAKE_WEBHOOK_URL=${url}`,
    `export LEDGERLAKE_API_KEY=${key}`,
    '',
    'A run finds out what an API allows, from 2 requests a second on. To begin at full speed, write into ledgerlake.yaml:',
    'api: { limits: { das: { rps: 2000 }, compression: { rps: 2000 } } }',
  ].join('\n');
}

// Beyond it, skipping slots one by one takes a minute.
const maxSlot = 10_000_000_000;

/** @throws UsageError naming the invalid option */
function readOptions(args: SandboxArgs): SandboxOptions {
  const whole = (option: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new UsageError(
      `--${option} is not a whole number from ${least} to ${most}`,
      '`ledgerlake sandbox --help` explains it.',
    );
  };
  if (!(args.faultRate >= 0 && args.faultRate <= 1)) {
    throw new UsageError('--fault-rate is not a share from 0 to 1', '0.05 lets one request in twenty fail.');
  }
  whole('tick', args.tick, 0, 1000);
  if (args.slot !== undefined) whole('slot', args.slot, 0, maxSlot);
  return {
    apiKey: key,
    port: whole('port', args.port, 0, 65_535),
    seed: whole('seed', args.seed, 0, 2 ** 32 - 1),
    assets: whole('assets', args.assets, 0, 100_000_000),
    owners: whole('owners', args.owners, 1, 100_000_000),
    rps: whole('rps', args.rps, 0, 1_000_000),
    ...(args.burst === undefined ? {} : { burst: whole('burst', args.burst, 1, 1_000_000) }),
    latencyMs: whole('latency', args.latency, 0, 600_000),
    faultRate: args.faultRate,
    pageOnly: args.pageOnly,
  };
}

function asUsageError(error: unknown, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error;
  const why = code === 'EADDRINUSE' ? 'is in use' : 'may not be used by this user';
  return new UsageError(`port ${port} ${why}`, 'Name another with --port; --port 0 takes any free one.', {
    cause: error,
  });
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const release = listenForSignals(() => {
      release();
      resolve();
    });
  });
}
