import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/server.ts';
import { listenForSignals } from '../stop-signals.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { addExamples } from './examples.ts';
import { readNumber } from './option-values.ts';

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

export function describeOptions(command: Command): Command {
  command
    .option('--port <n>', 'TCP port on 127.0.0.1; 0 takes a free one', readNumber, 8899)
    .option('--seed <n>', 'Which ledger is generated', readNumber, 1)
    .option('--assets <n>', 'How many assets it has', readNumber, 30_000)
    .option('--owners <n>', 'How many owners it has', readNumber, 5000)
    .option('--rps <n>', 'Requests a second and pool before 429; 0: no limit', readNumber, 0)
    .option('--burst <n>', 'How many may come at once (default: rps)', readNumber)
    .option('--latency <ms>', 'Milliseconds every answer waits', readNumber, 0)
    .option('--fault-rate <share>', 'Share of requests that fail, 0 to 1', readNumber, 0)
    .option('--page-only', 'Lists page by number, without cursors', false)
    .option('--slot <n>', 'Begin at this slot: above the last one of a former sandbox', readNumber)
    .option('--tick <n>', 'Move the content this many times before serving', readNumber, 0);
  return addExamples(
    command,
    {
      'ledgerlake sandbox': 'Serve it; run ledgerlake in another terminal with the variables it prints',
      'ledgerlake sandbox --rps 10 --fault-rate 0.05': 'An API with a limit that fails now and then',
    },
    'Content moves on request too: curl -X POST http://127.0.0.1:8899/_sandbox/tick -d \'{"n":1}\'. Without any URL in the environment, run, crawl and call start a sandbox of their own.',
  );
}

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

/** @throws UsageError naming the option that cannot be meant */
function readOptions(args: SandboxArgs): SandboxOptions {
  const whole = (option: string, value: number, least: number, most: number) => {
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new UsageError(
      `--${option} is not a whole number from ${least} to ${most}`,
      '`ledgerlake sandbox --help` says what it means.',
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
