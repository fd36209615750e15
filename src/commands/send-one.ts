import type { Operation } from '../api/operation.ts';
import type { Params } from '../api/wire.ts';
import { type SplitPage, sliceResult, splitPage } from '../landing/split.ts';
import { createBudget } from '../run/budget.ts';
import { openRequestLog, type RequestLog } from '../run/request-log.ts';
import { openClient, readMonthlyLeft } from '../run/run-client.ts';
import { untilStopped } from '../stop-signals.ts';
import type { Context } from './context.ts';
import type { Endpoints } from './endpoints.ts';

/** What one request of a command needs. */
export interface SendPlace {
  context: Context;
  place: Endpoints;
  /** Who asks: stands as the run in the log of requests. */
  command: string;
}

/** What came of one request. */
export interface OneAnswer extends SplitPage {
  /** The answer's `result` (the whole body where it is bare), byte for byte. */
  result: Buffer;
  receivedAt: Date;
}

/** Sends one request, as often as it takes; counts its credits in the data folder, when there is one. */
export async function sendOne(
  { context, place, command }: SendPlace,
  operation: Operation,
  params: Params,
): Promise<OneAnswer> {
  const requests = place.sandbox ? null : openLog(context, command);
  const ask = async (signal: AbortSignal): Promise<OneAnswer> => {
    const monthlyLeft = requests === null ? null : await readMonthlyLeft(context);
    const budget = createBudget({ maxRequests: null, maxCredits: null, until: null, monthlyLeft });
    const client = await openClient(context, place, budget, (entry) => requests?.add(entry), { signal });
    try {
      const { page, receivedAt } = await client.send(operation, params, (body) => ({
        ...splitPage(body, operation.records),
        result: sliceResult(body),
      }));
      return { ...page, receivedAt };
    } finally {
      await client.close();
    }
  };
  return untilStopped(ask).finally(() => requests?.close());
}

/** The data folder's log of requests, so that the monthly budget knows of this one; null without a data folder. */
function openLog({ folder, log }: Context, command: string): RequestLog | null {
  try {
    return openRequestLog(folder.requests, command);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') log.warn({ file: folder.requests, code }, 'credits of this call are not counted');
    return null;
  }
}
