import * as z from 'zod';
import { keyPlaceForms, parseKeyPlace } from '../api/key-place.ts';
import { findOperation, listOperations } from '../operations/catalogue.ts';
import { pools } from '../operations/operation.ts';
import { suggestion } from '../suggestion.ts';
import { unwrapSchema } from './yaml-issues.ts';

/** The section `api` of `ledgerlake.yaml`. */

const url = z.string().trim();

const poolLimit = z.strictObject({
  rps: z
    .number()
    .positive()
    .optional()
    .describe('Requests a second the plan allows; left out, the rate is found'),
  burst: z
    .int()
    .min(1)
    .optional()
    .describe('Requests that may be sent together, above the even rate; default 1'),
  concurrency: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe('Requests in flight at most; left out, it follows the rate'),
});

const limits = z
  .strictObject(Object.fromEntries(pools.map((pool) => [pool, poolLimit.optional()])) as PoolLimits)
  .prefault({})
  .describe('Rate limits by pool of operations');
type PoolLimits = Record<(typeof pools)[number], z.ZodOptional<typeof poolLimit>>;

/** Paging parameters, which the crawl sets. They are in no operation's `params`, but may be renamed too. */
const pagingParams = ['limit', 'cursor', 'page', 'before', 'after', 'sortBy'];

const operationName = z.string().superRefine((name, context) => {
  if (findOperation(name) !== undefined) return;
  const names = listOperations().map((operation) => operation.name);
  const remedy = suggestion(name, names) || `, expected one of ${names.join(', ')}`;
  context.addIssue({ code: 'custom', message: `there is no such operation${remedy}` });
});

/** Names of parameters, and of members of those that are objects: `options.priorityLevel`. */
function paramPaths(params: z.ZodType | undefined): string[] {
  if (!(params instanceof z.ZodObject)) return [];
  return Object.entries(params.shape as Record<string, z.ZodType>).flatMap(([name, schema]) => [
    name,
    ...paramPaths(unwrapSchema(schema)).map((inner) => `${name}.${inner}`),
  ]);
}

const paramNames = z
  .record(operationName, z.record(z.string(), z.string().min(1)))
  .superRefine((byOperation, context) => {
    for (const [name, renames] of Object.entries(byOperation)) {
      const known = [...paramPaths(findOperation(name)?.params), ...pagingParams];
      for (const param of Object.keys(renames)) {
        if (known.includes(param)) continue;
        const message = `no parameter of ${name}, expected one of ${known.join(', ')}`;
        context.addIssue({ code: 'custom', path: [name, param], message });
      }
    }
  });

const shortPageEnds = z.record(operationName, z.boolean()).superRefine((byOperation, context) => {
  for (const name of Object.keys(byOperation)) {
    if (findOperation(name)?.paging === 'keyset') continue;
    const lists = listOperations().flatMap((one) => (one.paging === 'keyset' ? one.name : []));
    const message = `marks the end of its lists itself, expected one of ${lists.join(', ')}`;
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

const keyPlace = z
  .string()
  .refine((text) => parseKeyPlace(text) !== null, `expected ${keyPlaceForms}`)
  .optional();

const auth = z
  .strictObject({
    rpc: keyPlace.describe(`Where the JSON-RPC interface expects the key: ${keyPlaceForms}; default query`),
    wallet: keyPlace.describe('The same for the wallet interface; default header:x-api-key'),
    webhook: keyPlace.describe('The same for the webhook interface; default query'),
  })
  .prefault({})
  .describe('Where the provider expects the key (docs/providers.md)');

export const apiSection = z
  .strictObject({
    rpc_url: url.optional().describe('Base URL of the JSON-RPC interface; LEDGERLAKE_RPC_URL wins'),
    wallet_url: url.optional().describe('Base URL of the wallet interface; LEDGERLAKE_WALLET_URL wins'),
    webhook_url: url.optional().describe('Base URL of the webhook interface; LEDGERLAKE_WEBHOOK_URL wins'),
    auth,
    limits,
    monthly_credits: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Credits that may be spent in a billing month; left out, no budget. Every attempt that reaches the API counts, because the provider may count it',
      ),
    billing_day: z
      .int()
      .min(1)
      .max(31)
      .default(1)
      .describe('Day of the month (UTC) on which a billing month begins; in a shorter month, its last day'),
    credits: z
      .record(operationName, z.number().min(0))
      .default({})
      .describe("Credits per call, by operation, where the provider's price differs"),
    param_names: paramNames
      .default({})
      .describe('Parameters that the provider names differently: {getTokenAccounts: {mint: mintAddress}}'),
    short_page_ends: shortPageEnds
      .default({})
      .describe(
        'Lists of which you know that a page with fewer records than requested is the last: {getTokenAccounts: true} saves the request for the empty page after it. One in 20 is requested all the same; a crawl that ended with a short page closes no rows',
      ),
    timeout_s: z
      .number()
      .positive()
      .max(600)
      .default(30)
      .describe('Seconds in which a whole answer must arrive'),
  })
  .prefault({})
  .describe('The API that is crawled. Never write the key here: set LEDGERLAKE_API_KEY');
