import * as z from 'zod';
import { isLoopback } from '../api/http.ts';
import { apiSection } from './api-section.ts';

/** The fields of `ledgerlake.yaml`. All are optional. The reference documentation has their descriptions. */

/** Bytes of `256MB`, `1.5 GiB`, … as DuckDB counts them: kB are 1000, KiB are 1024. NaN for another text. */
export function parseMemory(text: string): number {
  const [, amount, prefix = '', binary] = /^(\d+(?:\.\d+)?)\s?([KMGT])(i?)B$/i.exec(text) ?? [];
  return Number(amount) * (binary ? 1024 : 1000) ** ('KMGT'.indexOf(prefix.toUpperCase()) + 1);
}

/** With less, a publish of wide rows runs out of memory. */
const minMemory = '256MB';

const memorySize = z
  .string()
  .refine((text) => !Number.isNaN(parseMemory(text)), {
    abort: true,
    error: 'expected a size such as 256MB or 2GB',
  })
  .refine((text) => parseMemory(text) >= parseMemory(minMemory), {
    error: `expected at least ${minMemory}: a publish runs out of memory with less`,
  });

const share = z.number().min(0).max(1);

const guards = z
  .strictObject({
    vanished_share: share
      .default(0.01)
      .describe(
        'Share of a target’s rows that may leave in one night, and of a job’s that look-ups may no longer find',
      ),
    vanished_job_share: share.default(0.1).describe('Share of a job’s rows that may leave in one night'),
    blank_share: share
      .default(0.01)
      .describe('Share of a job’s rows in which a steady column may become NULL'),
    blank_other_share: share.default(0.5).describe('The same for the other columns'),
    stale_share: share
      .default(0.5)
      .describe('Share of a job’s records that may be older than the tables’ rows'),
    lag_slots: z.int().min(0).default(1500).describe('Slots by which a replica may be behind'),
    rows: z.int().min(0).default(50).describe('Rows that are never too many, whatever their share'),
    few_rows: z
      .int()
      .min(1)
      .default(10)
      .describe('Number of rows from which all, or most, of them are too many'),
  })
  .prefault({})
  .describe('Limits above which a night is not published (docs/how-to.md, When a night is refused)');

const warehouse = z
  .strictObject({
    memory_limit: memorySize
      .default(minMemory)
      .describe(`Memory DuckDB may take, ${minMemory} or more; it spills to disk above it`),
    threads: z
      .int()
      .min(1)
      .max(256)
      .optional()
      .describe('Threads of DuckDB; left out, one per core, at most 4'),
    keep_raw_days: z.int().min(0).default(30).describe('Days for which published raw records are kept'),
    quarantine_limit: z
      .number()
      .min(0)
      .max(1)
      .default(0.01)
      .describe(
        'Share of a crawl’s records by which more than in the last crawl may be quarantined (50 more always may); above it, the crawl is not published',
      ),
    guards,
    file_mode: z
      .string('expected octal digits in quotes, such as "0640"')
      // Bare 0640 is the decimal number 640 in YAML 1.2, so only text is taken.
      .regex(/^0?[4-7][0-7]{2}$/, 'expected octal digits that let the owner read, such as "0640"')
      .default('0640')
      .describe('Permissions of the snapshot (less its write bits) and the lake, in quotes'),
  })
  .prefault({})
  .describe('The local DuckDB files');

/** What `lake.partition_by` may have: a column, or a unit of a time. */
export const partitionForm = /^(?:([a-z][a-z0-9_]*)|(year|month|day)\(([a-z][a-z0-9_]*)\))$/;

const credentialsText = 'carries credentials; keep them in the environment';

const name = z.string().regex(/^[a-z][a-z0-9_]*$/, 'expected a name of a-z, 0-9 and _');

const catalog = z
  .strictObject({
    uri: z
      .string()
      .trim()
      .min(1)
      .refine(hasNoCredentials, credentialsText)
      .optional()
      .describe(
        'ducklake: a file (relative to this one), sqlite:<file> or postgres:<connection>; left out, catalog.ducklake in the lake',
      ),
    endpoint: z
      .string()
      .trim()
      .refine(isWebhook, 'expected an https:// URL (plain http:// is for this machine only)')
      .refine(hasNoCredentials, credentialsText)
      .optional()
      .describe('iceberg: URL of the REST catalog'),
    warehouse: z
      .string()
      .min(1)
      .optional()
      .describe('iceberg: name of the warehouse, as the catalog knows it'),
    namespace: name.default('ledgerlake').describe('Schema of the tables'),
    auth: z
      .enum(['none', 'oauth2', 'sigv4'])
      .default('none')
      .describe(
        'iceberg: oauth2 takes LEDGERLAKE_CATALOG_TOKEN, or LEDGERLAKE_CATALOG_CLIENT_ID and …_SECRET; sigv4 the credentials of AWS',
      ),
  })
  .describe('The catalog of `format: iceberg` or `ducklake`');

const lake = z
  .strictObject({
    uri: z
      .string()
      .trim()
      .min(1)
      .refine(hasNoCredentials, credentialsText)
      .optional()
      .describe(
        'Folder (relative to this file) or object store of the exports; left out, `lake` in the data folder',
      ),
    format: z
      .enum(['parquet', 'iceberg', 'ducklake'])
      .default('parquet')
      .describe(
        'parquet: files and a manifest; iceberg or ducklake: tables of a catalog, by an extension of DuckDB (`ledgerlake lake install`)',
      ),
    catalog: catalog.prefault({}),
    endpoint: z
      .string()
      .trim()
      .refine((text) => /^https?:\/\/[^/@]+$/.test(text), 'expected http(s)://host[:port]')
      .optional()
      .describe('Object store that is not AWS: http(s)://host[:port]'),
    force_path_style: z
      .boolean()
      .default(false)
      .describe('Whether its buckets are in the path, not in the host name'),
    changes: z
      .boolean()
      .default(false)
      .describe(
        'iceberg, ducklake: also <table>_changes, which grows by what each export inserted, updated and deleted',
      ),
    extension_directory: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Folder of DuckDB’s extensions, where they cannot be fetched: <name>.duckdb_extension files, or DuckDB’s own layout',
      ),
    tables: z
      .array(name)
      .min(1)
      .optional()
      .describe(
        'Tables to export; left out, all. A table that is removed from the list keeps its last export in the lake',
      ),
    partition_by: z
      .record(
        name,
        z
          .array(z.string().regex(partitionForm, 'expected a column, or year(…), month(…) or day(…) of one'))
          .min(1),
      )
      .default({})
      .describe(
        'What the files of a table are split by, in folders as Hive names them: {assets: [collection], compression_signatures: [day(block_time)]}. Readers find these columns in the path',
      ),
    keep: z.int().min(1).default(2).describe('Exports of a table that are kept'),
  })
  .prefault({})
  .describe('Parquet datasets, or tables of a catalog, for others to read');

const onFinish = z
  .strictObject({
    webhook: z
      .string()
      .trim()
      .refine(isWebhook, 'expected an https:// URL (plain http:// is for this machine only)')
      .optional()
      .describe(
        'URL that gets a JSON summary of each `run` and `crawl` by POST; its `text` is what chat programs show',
      ),
    command: z
      .string()
      .min(1)
      .optional()
      .describe('Shell command that gets the same summary on stdin; it does not see the API key'),
    when: z
      .enum(['always', 'failure'])
      .default('always')
      .describe('failure: only where the exit code is neither 0 nor 75'),
  })
  .prefault({})
  .describe(
    'What happens when a run has ended. A failure of it is a warning and does not change the exit code',
  );

function hasNoCredentials(uri: string): boolean {
  return !/^[^/]*:\/\/[^/]*@|\bpassword\s*=/i.test(uri);
}

function isWebhook(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(origin));
}

/** The sections that one environment may set, or all have in common. */
const sections = {
  api: apiSection,
  warehouse,
  lake,
  on_finish: onFinish,
  sample: z
    .boolean()
    .default(false)
    .describe('Crawl the sample API inside the program while no URL is set, as --sample does'),
};

export const sectionsSchema = z.strictObject(sections);

export const environmentName = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

/** `ledgerlake.yaml`. */
export const configSchema = z
  .strictObject({
    ...sections,
    environments: z
      .record(
        z.string().regex(environmentName, 'a name is letters, digits, _ and -'),
        sectionsSchema.prefault({}).describe('Settings of this environment that differ'),
      )
      .default({})
      .describe(
        'By name, the settings that differ: {prod: {api: {rpc_url: https://rpc.example.com}}}. --env or LEDGERLAKE_ENV chooses one; each has a data folder of its own, data/<name>',
      ),
  })
  .describe('Configuration of ledgerlake');

export type ConfigFile = z.output<typeof sectionsSchema>;

/** The text of config.schema.json, by which editors complete and check `ledgerlake.yaml`. */
export function configSchemaText(): string {
  const schema = z.toJSONSchema(configSchema, {
    ...{ io: 'input', unrepresentable: 'any' },
    // A heading above comments only is null, and sets nothing.
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === 'object') Object.assign(jsonSchema, { type: ['object', 'null'] });
    },
  });
  return `${JSON.stringify({ ...schema, title: 'ledgerlake.yaml' }, null, 2)}\n`;
}
