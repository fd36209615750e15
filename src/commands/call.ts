import type { Argv } from 'yargs';
import { findOperation, listOperations } from '../api/catalogue.ts';
import { type ApiClient, createClient } from '../api/client.ts';
import type { Operation } from '../api/operation.ts';
import { UsageError } from '../errors.ts';
import { sliceResult, splitPage } from '../landing/split.ts';
import { billingPeriodStart, createBudget } from '../pipeline/budget.ts';
import { openRequestLog, type RequestLog, sumCredits } from '../pipeline/request-log.ts';
import { suggestion } from '../yaml-issues.ts';
import { readCallParams } from './call-params.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';
import { type Endpoints, openEndpoints } from './endpoints.ts';
import { abortOnSignals } from './interrupt.ts';
import { writeStdout } from './stdout.ts';

interface CallArgs extends GlobalArgs {
  operation: string;
  params?: string;
}

export function describeOptions(command: Argv): Argv {
  return command
    .positional('operation', { type: 'string', describe: 'Its name: `ledgerlake methods` lists them' })
    .positional('params', { type: 'string', describe: 'Parameters as one JSON object (default: {})' })
    .example('$0 call getLatestCompressionSignatures', 'One page')
    .example(
      '$0 call getAssetsByGroup \'{"groupKey": "collection", "groupValue": "…", "limit": 2}\' | jq .',
      'The first two assets of a collection; page and cursor go on from there',
    )
    .epilogue(
      'Sends one request (and its retries), which costs what the operation costs. Prints the result as it came, byte for byte.',
    );
}

export async function execute(args: CallArgs): Promise<number> {
  const operation = chooseOperation(args.operation);
  const params = readCallParams(operation, args.params ?? '{}');
  const context = await openContext(args);
  const place = await openEndpoints(context, { keepSlot: false });
  const requests = place.sandbox ? null : openLog(context);
  const interrupt = abortOnSignals();
  let client: ApiClient | undefined;
  try {
    client = await openClient(context, place, requests, interrupt.signal);
    const { page } = await client.send(operation, params, (body) => ({
      envelope: splitPage(body, operation.records).envelope,
      result: sliceResult(body),
    }));
    await writeStdout([page.result, '\n']);
    return 0;
  } finally {
    interrupt.release();
    await client?.close();
    requests?.close();
    await place.close();
  }
}

function chooseOperation(name: string): Operation {
  const operation = findOperation(name);
  if (operation !== undefined) return operation;
  const names = listOperations().map((known) => known.name);
  throw new UsageError(
    `no operation is called "${name}"${suggestion(name, names)}`,
    `The operations are ${names.join(', ')}.`,
  );
}

/** The data folder's log of requests, so that the monthly budget knows of this one; null without a data folder. */
function openLog({ folder, log }: Context): RequestLog | null {
  try {
    return openRequestLog(folder.requests, 'call');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') log.warn({ file: folder.requests, code }, 'credits of this call are not counted');
    return null;
  }
}

async function openClient(
  { config, folder }: Context,
  place: Endpoints,
  requests: RequestLog | null,
  signal: AbortSignal,
): Promise<ApiClient> {
  const { monthlyCredits, billingDay } = config;
  const spent =
    monthlyCredits === null || requests === null
      ? 0
      : await sumCredits(folder.requests, billingPeriodStart(new Date(), billingDay));
  const monthlyLeft = monthlyCredits === null ? null : monthlyCredits - spent;
  return createClient(
    {
      endpoints: place.endpoints,
      limits: config.limits,
      credits: config.credits,
      timeoutMs: config.timeoutMs,
      paramNames: config.paramNames,
      budget: createBudget({ maxRequests: null, maxCredits: null, until: null, monthlyLeft }),
      onAttempt: (entry) => requests?.add(entry),
      userAgent: 'ledgerlake',
      signal,
    },
    place.key === undefined ? {} : { key: place.key },
  );
}
