import { readApiKey } from '../api/api-key.ts';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { harmlessParams, listOperations } from '../operations/catalogue.ts';
import { openRequestLog } from '../run/request-log.ts';
import { readMonthlyLeft } from '../run/run-client.ts';
import { askOnce, describeMethod } from '../status/examine-api.ts';
import { createProber, type Prober, type ProberOptions } from '../status/probe-api.ts';
import { untilStopped } from '../stop-signals.ts';
import { formatCount } from '../words.ts';
import { notSpent } from './confirm-spending.ts';
import { chooseFolder, createPrint, type GlobalArgs } from './context.ts';
import { urlsOf } from './endpoints.ts';
import { askYes } from './stdio.ts';
import { formatTable } from './text-table.ts';

/** A prober whose requests count in the data folder's budget, if there is a data folder. */
export function openProber(options: Omit<ProberOptions, 'onAttempt'>, folder: DataFolder): Prober {
  const log = ignoringDisk(() => openRequestLog(folder.requests, 'doctor'));
  const prober = createProber({ ...options, onAttempt: (entry) => ignoringDisk(() => log?.add(entry)) });
  return {
    ask: prober.ask,
    async close() {
      await prober.close();
      ignoringDisk(() => log?.close());
    },
  };
}

/** Without room for its few requests, `doctor` has all the more to say. */
function ignoringDisk<T>(write: () => T): T | null {
  try {
    return write();
  } catch {
    return null;
  }
}

/**
 * `ledgerlake doctor --methods`: calls every read-only method of the interfaces with a URL once.
 * @throws UsageError without a URL, without enough credits, and without a yes
 */
export async function askMethods(args: GlobalArgs & { yes: boolean }, config: Config): Promise<number> {
  const endpoints = Object.fromEntries(Object.entries(urlsOf(config)).filter(([, url]) => url !== undefined));
  if (Object.keys(endpoints).length === 0)
    throw new UsageError(
      'no URL is set, so there is no API to ask',
      'Set LEDGERLAKE_RPC_URL and LEDGERLAKE_API_KEY, in the environment or in .env.',
    );
  const operations = listOperations().filter(
    (operation) => operation.transport in endpoints && harmlessParams(operation) !== null,
  );
  const folder = chooseFolder(args, config.environment);
  const credits = operations.reduce((sum, { name, credits }) => sum + (config.credits[name] ?? credits), 0);
  const creditsLeft = await readMonthlyLeft({ config, folder });
  if (creditsLeft !== null && creditsLeft < credits)
    throw new UsageError(
      `asking ${operations.length} methods costs ${formatCount(credits)} credits, and this month has ${formatCount(creditsLeft)} left`,
      'Raise api.monthly_credits, or ask one with `ledgerlake call`.',
    );
  const what = `${operations.length} methods are called once, which costs ${formatCount(credits)} credits`;
  if (!args.yes && process.stdin.isTTY) await askYes(`${what}. Call them?`, notSpent);
  else process.stderr.write(`ledgerlake: ${what}\n`);
  const { envFiles, keyPlaces: places } = config;
  const key = readApiKey(process.env, { envFiles, places });
  const prober = openProber({ endpoints, key, config }, folder);
  const probes = await untilStopped((signal) => askOnce(prober, operations, config.limits, signal)).finally(
    () => prober.close(),
  );
  const columns = [{ name: 'method' }, { name: 'there' }, { name: 'ms', right: true }, { name: 'answer' }];
  const rows = probes.map((probe) => [
    probe.operation,
    describeMethod(probe),
    `${probe.latencyMs}`,
    probe.said,
  ]);
  const width = process.stdout.isTTY ? { width: process.stdout.columns } : {};
  createPrint(args)(
    formatTable(columns, rows, width),
    probes.map((probe) => ({ ...probe, there: describeMethod(probe) })),
  );
  return probes.some(({ outcome }) => outcome === 'key_refused') ? 77 : 0;
}
