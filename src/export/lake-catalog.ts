import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { lakeType } from '../warehouse/lake-type.ts';
import { type Partition, parsePartition } from './partitions.ts';

/** What the config says of a lake in a catalog. */
export interface CatalogSettings {
  format: 'iceberg' | 'ducklake';
  /** Folder or `s3://…` of the files. */
  lake: string;
  catalog: {
    uri: string | null;
    endpoint: string | null;
    warehouse: string;
    namespace: string;
    auth: 'none' | 'oauth2' | 'sigv4';
  };
  endpoint: string | null;
  forcePathStyle: boolean;
}

/**
 * A catalog whose tables DuckDB writes by an extension of its own. No table format is written here: everything that the two
 * formats differ in is SQL.
 */
export interface LakeCatalog {
  /** DuckDB's extensions, in the order in which they load. */
  extensions: readonly string[];
  /** Statements that attach it as `lake`, after those that make its secrets. */
  attach: readonly string[];
  /** The schema of the tables, quoted, with a dot behind. */
  schema: string;
  /** The catalog as messages name it. */
  address: string;
  columnType(type: string): string;
  /** Statements that make a table. */
  create(
    table: string,
    columns: readonly { name: string; type: string }[],
    partitionBy: readonly string[],
  ): string[];
  /** Statements that describe it where the format has comments. */
  comment(table: string, description: TableComments): string[];
  /** SQL of `version`, a BIGINT that changes with every commit of another writer to the table. */
  version(table: string): string;
  /** The version after a commit of ours with this many statements that changed rows. */
  versionAfter(version: bigint, statements: number): bigint;
  /** SQL of `rows` and `deleted`: rows that data files have, and of them those that delete files take away. Null: no way to know. */
  deletes(table: string): string | null;
  /** Statements that record the writer and the run in the transaction. */
  sign(run: string): string[];
}

export interface TableComments {
  describe: string;
  columns: readonly { name: string; describe: string }[];
}

/** Describes the catalog of the config. Pure. @param env has the catalog's credentials @throws UsageError */
export function describeCatalog(settings: CatalogSettings, env: NodeJS.ProcessEnv): LakeCatalog {
  return settings.format === 'iceberg' ? iceberg(settings, env) : duckLake(settings);
}

function duckLake({ lake, catalog, endpoint, forcePathStyle }: CatalogSettings): LakeCatalog {
  const isRemote = lake.includes('://');
  if (catalog.uri === null && isRemote)
    throw new UsageError(
      'lake.catalog: a DuckLake whose files are in an object store needs a catalog outside of it',
      'Set lake.catalog.uri: a file of this machine, sqlite:<file> or postgres:<connection>.',
    );
  const uri = catalog.uri ?? join(lake, 'catalog.ducklake');
  const [, server] = /^(sqlite|postgres):/.exec(uri) ?? [];
  const schema = `lake.${quoteName(catalog.namespace)}.`;
  return {
    extensions: [
      'ducklake',
      ...(server === undefined ? [] : [`${server}_scanner`]),
      ...(isRemote ? ['httpfs', 'aws'] : []),
    ],
    attach: [
      ...(isRemote ? [s3Secret(endpoint, forcePathStyle)] : []),
      `attach ${quoteText(`ducklake:${uri}`)} as lake (data_path ${quoteText(`${lake}/`)})`,
    ],
    schema,
    address: `ducklake:${uri.replace(/^postgres:.*/s, 'postgres')}`,
    columnType: (type) => lakeType(type, { UBIGINT: 'UBIGINT', JSON: 'JSON' }),
    create: (table, columns, partitionBy) => [
      createStatement(`${schema}${quoteName(table)}`, columns),
      ...(partitionBy.length === 0
        ? []
        : [
            // Its units are parts of a date: a day is one of year and month.
            `alter table ${schema}${quoteName(table)} set partitioned by (${partitionBy.map(parsePartition).flatMap(dateParts).join(', ')})`,
          ]),
    ],
    comment: (table, { describe, columns }) => [
      `comment on table ${schema}${quoteName(table)} is ${quoteText(describe)}`,
      ...columns.map(
        (column) =>
          `comment on column ${schema}${quoteName(table)}.${quoteName(column.name)} is ${quoteText(column.describe)}`,
      ),
    ],
    // Snapshots name their writer, so ours do not count.
    version: (table) => `
      select coalesce(max(s.snapshot_id), 0) as version
      from ducklake_snapshots('lake') s, ducklake_table_info('lake') t
      where t.table_name = ${quoteText(table)} and s.author is distinct from 'ledgerlake'
        and list_contains(flatten(map_values(s.changes)), t.table_id::varchar)`,
    versionAfter: (version) => version,
    deletes: () => null,
    sign: (run) => [`call lake.set_commit_message('ledgerlake', ${quoteText(run)})`],
  };
}

function iceberg(
  { catalog, endpoint, forcePathStyle }: CatalogSettings,
  env: NodeJS.ProcessEnv,
): LakeCatalog {
  if (catalog.endpoint === null)
    throw new UsageError(
      'lake.catalog: `format: iceberg` needs the URL of its catalog',
      'Set lake.catalog: { endpoint: https://…, warehouse: … }.',
    );
  const withS3 = endpoint !== null || catalog.auth === 'sigv4';
  const schema = `lake.${quoteName(catalog.namespace)}.`;
  const options = [
    'type iceberg',
    `endpoint ${quoteText(catalog.endpoint)}`,
    ...(catalog.auth === 'oauth2'
      ? ['secret lake_catalog']
      : [`authorization_type ${quoteText(catalog.auth)}`]),
  ];
  return {
    extensions: ['httpfs', 'avro', 'iceberg', ...(withS3 ? ['aws'] : [])],
    attach: [
      ...(withS3 ? [s3Secret(endpoint, forcePathStyle)] : []),
      ...(catalog.auth === 'oauth2' ? [catalogSecret(catalog.endpoint, env)] : []),
      `attach ${quoteText(catalog.warehouse)} as lake (${options.join(', ')})`,
    ],
    schema,
    address: `${new URL(catalog.endpoint).origin}, ${catalog.namespace}`,
    // It has no unsigned integers, and none below 32 bits.
    columnType: (type) =>
      lakeType(type, {
        UINTEGER: 'BIGINT',
        USMALLINT: 'INTEGER',
        SMALLINT: 'INTEGER',
        UTINYINT: 'INTEGER',
        TINYINT: 'INTEGER',
      }),
    create: (table, columns, partitionBy) => {
      const units = partitionBy
        .map(parsePartition)
        .map(({ column, unit }) => (unit === null ? quoteName(column) : `${unit}(${quoteName(column)})`));
      const by = units.length === 0 ? '' : ` partitioned by (${units.join(', ')})`;
      return [`${createStatement(`${schema}${quoteName(table)}`, columns)}${by}`];
    },
    comment: () => [],
    version: (table) =>
      `select coalesce(max(sequence_number), 0)::bigint as version from iceberg_snapshots(${schema}${quoteName(table)})`,
    // Each statement is a snapshot, and a commit is refused where another came between.
    versionAfter: (version, statements) => version + BigInt(statements),
    deletes: (table) => `
      select coalesce(sum(record_count) filter (where manifest_content = 'DATA'), 0)::bigint as rows,
        coalesce(sum(record_count) filter (where manifest_content = 'DELETE'), 0)::bigint as deleted
      from iceberg_metadata(${schema}${quoteName(table)})`,
    sign: () => [],
  };
}

function createStatement(table: string, columns: readonly { name: string; type: string }[]): string {
  return `create table if not exists ${table} (${columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(', ')})`;
}

function dateParts({ column, unit }: Partition): string[] {
  const name = quoteName(column);
  if (unit === null) return [name];
  return ['year', 'month', 'day']
    .slice(0, ['year', 'month', 'day'].indexOf(unit) + 1)
    .map((part) => `${part}(${name})`);
}

/** DuckDB finds the credentials itself, as every program of AWS does. */
function s3Secret(endpoint: string | null, forcePathStyle: boolean): string {
  const options = ['type s3', 'provider credential_chain'];
  if (endpoint !== null) {
    const { host, protocol } = new URL(endpoint);
    options.push(`endpoint ${quoteText(host)}`, `use_ssl ${protocol === 'https:'}`);
  }
  if (forcePathStyle) options.push("url_style 'path'");
  return `create or replace secret lake_files (${options.join(', ')})`;
}

/** @throws UsageError without credentials in the environment */
function catalogSecret(endpoint: string, env: NodeJS.ProcessEnv): string {
  const {
    LEDGERLAKE_CATALOG_TOKEN: token = '',
    LEDGERLAKE_CATALOG_CLIENT_ID: id = '',
    LEDGERLAKE_CATALOG_CLIENT_SECRET: secret = '',
  } = env;
  const start = 'create or replace secret lake_catalog (type iceberg, ';
  if (token !== '') return `${start}token ${quoteText(token)})`;
  if (id === '' || secret === '')
    throw new UsageError(
      'lake.catalog.auth is oauth2, but the environment has no credentials for the catalog',
      'Set LEDGERLAKE_CATALOG_TOKEN, or LEDGERLAKE_CATALOG_CLIENT_ID and LEDGERLAKE_CATALOG_CLIENT_SECRET.',
    );
  const server = quoteText(`${endpoint.replace(/\/$/, '')}/v1/oauth/tokens`);
  return `${start}client_id ${quoteText(id)}, client_secret ${quoteText(secret)}, oauth2_server_uri ${server})`;
}
