import * as z from 'zod';
import { unwrapSchema } from '../config/yaml-issues.ts';
import { durationForms, durationPattern } from '../duration.ts';
import { listOperations } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';

/** The fields of a job file. The rules of its operation are in check-job.ts. */

export const maxPartitions = 256;

const nonEmptyText = z.string().trim().min(1);

const selectText = nonEmptyText.describe(
  'Exactly one SELECT, read-only, run on what has been published so far; interrupted after 60 s',
);

const source = z
  .strictObject({
    values: z.array(nonEmptyText).min(1).optional().describe('The values themselves'),
    file: nonEmptyText
      .optional()
      .describe(
        'A file beside the job file: one value a line, `#` starts a comment, repeated values count once',
      ),
    sql: selectText.optional(),
  })
  .refine((kinds) => Object.keys(kinds).length === 1, 'expected exactly one of values, file, sql')
  .meta({ description: 'Where the values of this parameter come from', minProperties: 1, maxProperties: 1 });

const forEach = z
  .object({
    sql: selectText.optional().describe('One SELECT whose columns are named after the parameters they fill'),
  })
  .catchall(source)
  .refine(
    (sources) => Object.keys(sources).length === 1,
    'expected one parameter; to fill several, write for_each: {sql: "select owner, mint from …"}',
  )
  .meta({
    description: 'The targets of the job, one for each value (or row). Omitted: the job has one target',
    minProperties: 1,
    maxProperties: 1,
  });

const sinceForms = `expected an age (${durationForms}), {slot: n}, {pages: n} or all`;

const slotNumber = z.int().min(0).describe('Go back to this slot');
const pageCount = z.int().min(1).describe('Go back this many pages');

export const durationText = z.string().regex(durationPattern, `expected ${durationForms}`);

const overlapText = z
  .string()
  .refine((text) => text === '0s' || durationPattern.test(text), `expected ${durationForms}, or 0s`);

const since = z
  .union(
    [
      z.string().regex(durationPattern, sinceForms),
      z.literal('all'),
      z.strictObject({ slot: slotNumber }),
      z.strictObject({ pages: pageCount }),
    ],
    { error: sinceForms },
  )
  .describe('Feeds only: how far back the first crawl goes; default 1d, all for a wallet');

/** `jobs/<name>.yaml`. */
export const jobSchema = z
  .strictObject({
    describe: nonEmptyText.describe('What the job brings, in one sentence'),
    method: z
      .enum(jobOperations().map(({ name }) => name) as [string, ...string[]])
      .describe('The operation to call; `ledgerlake methods` lists them'),
    params: z
      .record(z.string(), z.unknown())
      .default({})
      .describe(
        "The operation's parameters that are the same for every target; the crawl sets those of paging",
      ),
    for_each: forEach.optional(),
    mode: z
      .enum(['full', 'incremental'])
      .default('full')
      .describe('incremental stops where all records are already stored; only for operations that sort'),
    full_every: durationText
      .optional()
      .describe('Incremental jobs: how often the list is crawled in full; default 7d'),
    after: z
      .array(z.string())
      .default([])
      .describe("Jobs that must have published before this one's targets are read"),
    since: since.optional(),
    overlap: overlapText
      .optional()
      .describe(
        'Feeds only: what was read less than this after its own time is read once more by the next round, for records that are indexed late; default 1h, 0s for none',
      ),
    page_size: z.int().min(1).optional().describe("Records a request; default: the operation's limit"),
    partitions: z
      .int()
      .min(1)
      .max(maxPartitions)
      .default(1)
      .describe('Above 1: split the id space into this many ranges and crawl them in parallel'),
    tags: z
      .array(z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected a name of a-z, 0-9, - and _'))
      .default([])
      .describe('Groups the job is in: `run tag:daily` runs those of one'),
  })
  .describe('A ledgerlake job: what to crawl');

export type JobFile = z.infer<typeof jobSchema>;

/**
 * The JSON schema for editors: the fields, and the parameters of each method. `scripts/write-job-schema.ts` writes it to
 * jobs/job.schema.json.
 */
export function jobJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(jobSchema, { io: 'input' });
  return {
    ...schema,
    title: 'ledgerlake job',
    allOf: jobOperations().map((operation) => ({
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own keyword
      then: { properties: paramsFor(operation) },
      if: { properties: { method: { const: operation.name } }, required: ['method'] },
    })),
  };
}

/** The operations that a job may call. The webhook operation changes something and has a command of its own. */
function jobOperations(): Operation[] {
  return listOperations().filter(({ transport }) => transport !== 'webhook');
}

function paramsFor(operation: Operation): Record<string, unknown> {
  // Required parameters may come from for_each, which a schema cannot check.
  const { properties = {} } = z.toJSONSchema(operation.params, { io: 'input' });
  return {
    params: { type: 'object', properties, additionalProperties: false },
    for_each: { propertyNames: { enum: ['sql', ...forEachNames(operation)] } },
  };
}

/** The parameters that `for_each` may name: those that take text, or a batch operation's plain ids. */
export function forEachNames(operation: Operation): string[] {
  const { batchParam, params } = operation;
  if (operation.paging === 'batch') {
    return batchParam === undefined || idsAreMappings(operation) ? [] : [batchParam];
  }
  return Object.entries(params.shape as Record<string, z.ZodType>)
    .filter(([, schema]) => takesText(unwrapSchema(schema)))
    .map(([name]) => name);
}

function takesText(schema: z.ZodType): boolean {
  return schema instanceof z.ZodString || schema instanceof z.ZodEnum;
}

/** Whether an operation has a parameter that sorts its list. */
export function canSort({ params }: Operation): boolean {
  return 'sortBy' in params.shape;
}

/** Whether an operation is a batch whose ids are mappings (getMultipleNewAddressProofsV2). */
export function idsAreMappings(operation: Operation): boolean {
  return idSchema(operation) instanceof z.ZodObject;
}

/** The schema of one id of a batch operation; null for other operations. */
export function idSchema(operation: Operation): z.ZodType | null {
  const list = operation.batchParam === undefined ? undefined : operation.params.shape[operation.batchParam];
  const inner = list === undefined ? null : unwrapSchema(list as z.ZodType);
  return inner instanceof z.ZodArray ? unwrapSchema(inner.element as z.ZodType) : null;
}

/** The text of jobs/job.schema.json. */
export function jobSchemaText(): string {
  return `${JSON.stringify(jobJsonSchema(), null, 2)}\n`;
}
