import * as z from 'zod';
import { describeIssues } from '../config/yaml-issues.ts';
import { UsageError } from '../errors.ts';
import { type SplitPage, sliceResult, splitPage } from '../landing/split.ts';
import type { Operation, Params } from '../operations/operation.ts';
import { createBudget } from '../run/budget.ts';
import { openRequestLog, type RequestLog } from '../run/request-log.ts';
import { openClient, readMonthlyLeft } from '../run/run-client.ts';
import { untilStopped } from '../stop-signals.ts';
import type { Context } from './context.ts';
import type { Endpoints } from './endpoints.ts';

/** What one request of a command needs. */
export interface SendContext {
  context: Context;
  endpoints: Endpoints;
  /** The command, recorded as the run in the request log. */
  command: string;
}

/** The answer to one request. */
export interface OneAnswer extends SplitPage {
  /** The answer's `result` (the whole body where it is bare), byte for byte. */
  result: Buffer;
  receivedAt: Date;
}

/** Sends one request, with its retries; counts its credits in the data folder, if there is one. */
export async function sendOne(
  { context, endpoints, command }: SendContext,
  operation: Operation,
  params: Params,
): Promise<OneAnswer> {
  const requests = endpoints.sandbox ? null : openLog(context, command);
  const send = async (signal: AbortSignal): Promise<OneAnswer> => {
    const monthlyLeft = requests === null ? null : await readMonthlyLeft(context);
    const budget = createBudget({ maxRequests: null, maxCredits: null, until: null, monthlyLeft });
    const client = await openClient(context, endpoints, budget, (entry) => requests?.add(entry), { signal });
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
  return untilStopped(send).finally(() => requests?.close());
}

/** The data folder's request log, so that this request counts in the monthly budget; null without a data folder. */
function openLog({ folder, log }: Context, command: string): RequestLog | null {
  try {
    return openRequestLog(folder.requests, command);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') log.warn({ file: folder.requests, code }, 'credits of this call are not counted');
    return null;
  }
}

/** Parameters that the crawl sets in a run, and the user in a single request. */
const paging = {
  limit: z.int().min(1),
  page: z.int().min(1),
  cursor: z.string(),
  before: z.string(),
  after: z.string(),
};

/**
 * Reads the parameters of `ledgerlake call` and checks them against the catalogue: an unknown name, a wrong type or a
 * missing parameter would cost a request.
 * @throws UsageError with every problem
 */
export function readCallParams(operation: Operation, json: string): Params {
  const params = parseObject(json);
  const shape = operation.params.shape as Record<string, z.ZodType>;
  const optional = Object.entries(paging)
    .filter(([name]) => !Object.hasOwn(shape, name))
    .map(([name, schema]) => [name, schema.optional()]);
  const schema = z.strictObject({ ...shape, ...Object.fromEntries(optional) });
  const issues = schema.safeParse(params).error?.issues ?? [];
  const problems = describeIssues(issues, operation.params, params).map(
    ({ path, message }) => `${path.map(String).join('.')}: ${message}`,
  );
  const { anyOf = [], onlyOne = false, limit, batchParam } = operation;
  const present = anyOf.filter((name) => params[name] !== undefined && params[name] !== null);
  if (anyOf.length > 0 && present.length === 0) problems.push(`needs at least one of ${anyOf.join(', ')}`);
  if (onlyOne && present.length > 1) problems.push(`takes only one of ${anyOf.join(', ')}`);
  const count = batchParam === undefined ? params.limit : lengthOf(params[batchParam]);
  if (limit !== null && typeof count === 'number' && count > limit)
    problems.push(`${batchParam ?? 'limit'}: at most ${limit} a request`);
  if (problems.length === 0) return params;
  throw new UsageError(
    [`invalid parameters of ${operation.name}:`, ...problems.map((problem) => `  ${problem}`)].join('\n'),
    `It takes ${describeParams(shape)}; nothing was sent.`,
  );
}

function parseObject(json: string): Params {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(
      `the parameters are not JSON (${(error as Error).message})`,
      'Quote the whole object for the shell: \'{"groupKey": "collection", "groupValue": "…"}\'.',
    );
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Params;
  throw new UsageError('the parameters are not a JSON object', 'Name each of them: \'{"name": value}\'.');
}

function lengthOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function describeParams(shape: Record<string, z.ZodType>): string {
  const names = Object.entries(shape).map(([name, schema]) =>
    isOptional(schema) ? `${name} (optional)` : name,
  );
  return names.length === 0 ? 'no parameters except for paging' : names.join(', ');
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}
