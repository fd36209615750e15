import * as z from 'zod';
import type { Operation } from '../api/operation.ts';
import type { Params } from '../api/wire.ts';
import { describeIssues } from '../config/yaml-issues.ts';
import { UsageError } from '../errors.ts';

/** The crawl sets these in a run; somebody who sends one request may set them too. */
const paging = {
  limit: z.int().min(1),
  page: z.int().min(1),
  cursor: z.string(),
  before: z.string(),
  after: z.string(),
};

/**
 * Reads the parameters of `ledgerlake call` and checks them against the catalogue: unknown names, wrong types and
 * missing ones cost nothing here, and a request each on the way.
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
  const given = anyOf.filter((name) => params[name] !== undefined && params[name] !== null);
  if (anyOf.length > 0 && given.length === 0) problems.push(`needs at least one of ${anyOf.join(', ')}`);
  if (onlyOne && given.length > 1) problems.push(`takes only one of ${anyOf.join(', ')}`);
  const asked = batchParam === undefined ? params.limit : lengthOf(params[batchParam]);
  if (limit !== null && typeof asked === 'number' && asked > limit)
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
  return names.length === 0 ? 'no parameters besides paging' : names.join(', ');
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}
