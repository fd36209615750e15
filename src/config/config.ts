import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { findKeyVariable } from '../api/api-key.ts';
import { endpointFault } from '../api/http.ts';
import { defaultKeyPlaces, type KeyPlaces, keyMark, parseKeyPlace } from '../api/key-place.ts';
import { UsageError } from '../errors.ts';
import type { Pool, Transport } from '../operations/operation.ts';
import type { Thresholds } from '../thresholds.ts';
import { readConfigFile, type UrlName, urls } from './config-file.ts';
import type { ConfigFile } from './config-schema.ts';

/** One rate pool's limit as the plan states it. A rate that is left out is found. */
export interface PoolLimit {
  /** Requests a second. */
  rps?: number;
  /** Requests that may be sent together, above the even rate. */
  burst?: number;
  /** Requests in flight at most. */
  concurrency?: number;
}

/** The settings of a run, from its environment and `ledgerlake.yaml`, with defaults filled in. */
export interface Config {
  /** The chosen environment of the config file; null for none. */
  environment: string | null;
  rpcUrl: string | undefined;
  walletUrl: string | undefined;
  webhookUrl: string | undefined;
  /** Where each interface expects the key. */
  keyPlaces: KeyPlaces;
  /** `.env` files that may hold the key; the first wins. */
  envFiles: readonly string[];
  limits: Partial<Record<Pool, PoolLimit>>;
  /** Credits per call by operation, where they differ from the catalogue's. */
  credits: Readonly<Record<string, number>>;
  /** Credits that may be spent in a billing month; null without a budget. */
  monthlyCredits: number | null;
  /** Day of the month (1 to 31, UTC) on which a billing month begins; in a shorter month, its last day. */
  billingDay: number;
  /** By operation: our name of a parameter → the provider's. */
  paramNames: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Operations whose lists end with a short page. */
  shortPageEnds: ReadonlySet<string>;
  timeoutMs: number;
  warehouse: {
    memoryLimit: string;
    threads: number;
    keepRawDays: number;
    /** Share of a task's records in quarantine above which it is not published. */
    quarantineLimit: number;
    /** Limits above which a crawl is held back. */
    guards: Thresholds;
    /** Permission bits of the snapshot (less its write bits) and the lake. */
    fileMode: number;
  };
  lake: {
    /** Absolute path or `scheme://…`; null for `lake` in the data folder. */
    uri: string | null;
    format: 'parquet' | 'iceberg' | 'ducklake';
    catalog: {
      /** An absolute path, `sqlite:<path>` or `postgres:…`; null for a file in the lake. */
      uri: string | null;
      endpoint: string | null;
      warehouse: string;
      namespace: string;
      auth: 'none' | 'oauth2' | 'sigv4';
    };
    /** Of an object store that is not AWS; null for AWS. */
    endpoint: string | null;
    forcePathStyle: boolean;
    changes: boolean;
    extensionDirectory: string | null;
    /** null for all tables. */
    tables: string[] | null;
    /** By table: the columns by which its files are split. */
    partitionBy: Readonly<Record<string, readonly string[]>>;
    keep: number;
    /** File, line and name of `tables` and `partition_by`, for errors: `ledgerlake.yaml:3: lake.tables`. */
    places: { tables: string; partitionBy: string };
  };
  /** The receivers of a run's summary. */
  onFinish: { webhook: string | null; command: string | null; when: 'always' | 'failure' };
  /** Whether the embedded sample API answers: no URL is set, and sample data was asked for. */
  sandbox: boolean;
}

export interface ConfigOptions {
  /** `--config`: must exist. Absent: `ledgerlake.yaml` in cwd when there is one. */
  file?: string;
  env: NodeJS.ProcessEnv;
  /** `.env` files that may hold the key; the first wins. Default: none. */
  envFiles?: readonly string[];
  /** The environment of the config file. Default: null, for none. */
  environment?: string | null;
  cwd: string;
  /** False for commands that send no requests. Default: true. */
  needsKey?: boolean;
  /** `--sample`: asks for sample data, as `sample: true` in the file does. */
  sample?: boolean;
}

/**
 * Reads the environment and the config file. The environment wins; empty variables count as unset. The key is not read, but
 * a URL whose interface has no key is an error, and so is a key without a URL. So is neither, unless
 * sample data was asked for.
 * @throws UsageError (exit 2) with all problems of the file, or with the first wrong variable
 */
export async function readConfig(options: ConfigOptions): Promise<Config> {
  const { values: file, folder, locate } = await readConfigFile(options);
  const { env, envFiles = [], environment = null } = options;
  const endpoints = readUrls(env, file);
  const hasUrl = Object.values(endpoints).some((url) => url !== undefined);
  if (options.sample && hasUrl)
    throw new UsageError(
      '--sample asks for sample data, but the URL of an API is set',
      'Leave out --sample, or unset every URL (LEDGERLAKE_RPC_URL, api.rpc_url, …).',
    );
  const sandbox = !hasUrl && (options.sample === true || file.sample);
  const { api, warehouse, lake, on_finish: onFinish } = file;
  const keyPlaces = readKeyPlaces(api.auth, endpoints);
  if (options.needsKey !== false)
    requireEndpoint((transport) => findKeyVariable(transport, env, envFiles)?.name, { endpoints, sandbox });
  return {
    environment,
    ...endpoints,
    keyPlaces,
    envFiles,
    limits: withoutUndefined(api.limits),
    credits: api.credits,
    monthlyCredits: api.monthly_credits ?? null,
    billingDay: api.billing_day,
    paramNames: api.param_names,
    shortPageEnds: new Set(Object.keys(api.short_page_ends).filter((name) => api.short_page_ends[name])),
    timeoutMs: api.timeout_s * 1000,
    warehouse: {
      memoryLimit: warehouse.memory_limit,
      threads: warehouse.threads ?? defaultThreads(),
      keepRawDays: warehouse.keep_raw_days,
      quarantineLimit: warehouse.quarantine_limit,
      guards: readThresholds(warehouse.guards),
      fileMode: Number.parseInt(warehouse.file_mode, 8),
    },
    lake: {
      uri: resolveUri(lake.uri, folder),
      format: lake.format,
      catalog: {
        ...lake.catalog,
        uri: resolveCatalog(lake.catalog.uri, folder),
        endpoint: lake.catalog.endpoint ?? null,
        warehouse: lake.catalog.warehouse ?? '',
      },
      endpoint: lake.endpoint ?? null,
      forcePathStyle: lake.force_path_style,
      changes: lake.changes,
      extensionDirectory: resolveUri(lake.extension_directory, folder),
      tables: lake.tables ?? null,
      partitionBy: lake.partition_by,
      keep: lake.keep,
      places: {
        tables: locate('tables'),
        partitionBy: locate('partition_by'),
      },
    },
    onFinish: { webhook: onFinish.webhook ?? null, command: onFinish.command ?? null, when: onFinish.when },
    sandbox,
  };
}

function readThresholds(guards: ConfigFile['warehouse']['guards']): Thresholds {
  return {
    vanishedShare: guards.vanished_share,
    vanishedJobShare: guards.vanished_job_share,
    blankShare: guards.blank_share,
    blankOtherShare: guards.blank_other_share,
    staleShare: guards.stale_share,
    lagSlots: guards.lag_slots,
    rows: guards.rows,
    fewRows: guards.few_rows,
  };
}

function readUrls(env: NodeJS.ProcessEnv, file: ConfigFile): Record<UrlName, string | undefined> {
  const read = (name: UrlName): string | undefined => {
    const { variable, field } = urls[name];
    const fromEnv = env[variable]?.trim() ?? '';
    const fault = fromEnv === '' ? null : endpointFault(fromEnv);
    if (fault !== null) throw new UsageError(`${variable} ${fault.what}`, `${sentence(fault.remedy)}.`);
    return fromEnv || file.api[field] || undefined;
  };
  return { rpcUrl: read('rpcUrl'), walletUrl: read('walletUrl'), webhookUrl: read('webhookUrl') };
}

/** @throws UsageError for a URL with `{key}` in it, where `api.auth` puts the key elsewhere */
function readKeyPlaces(
  auth: ConfigFile['api']['auth'],
  { rpcUrl, walletUrl, webhookUrl }: Record<UrlName, string | undefined>,
): KeyPlaces {
  const configured = Object.entries(auth).map(([name, text = '']) => [name, parseKeyPlace(text)] as const);
  const places: KeyPlaces = {
    ...defaultKeyPlaces,
    ...Object.fromEntries(configured.filter(([, place]) => place !== null)),
  };
  for (const [name, url] of Object.entries({ rpc: rpcUrl, wallet: walletUrl, webhook: webhookUrl }))
    if (url?.includes(keyMark) && places[name as keyof KeyPlaces].in !== 'path')
      throw new UsageError(
        `the URL of the ${name} interface has ${keyMark} in it, but the key goes elsewhere`,
        `Set in ledgerlake.yaml: api: { auth: { ${name}: path } }, or take ${keyMark} out of the URL.`,
      );
  return places;
}

/** Refuses a URL without a key, a key without a URL, and neither where nobody asked for sample data. */
function requireEndpoint(
  keyOf: (transport: Transport) => string | undefined,
  { endpoints, sandbox }: { endpoints: Record<UrlName, string | undefined>; sandbox: boolean },
): void {
  const names = (Object.keys(urls) as UrlName[]).filter((url) => endpoints[url] !== undefined);
  const key = (Object.keys(defaultKeyPlaces) as Transport[]).map(keyOf).find((name) => name !== undefined);
  if (names.length === 0 && key !== undefined)
    throw new UsageError(
      `${key} is set, but no URL`,
      'Set LEDGERLAKE_RPC_URL, or LEDGERLAKE_WALLET_URL or LEDGERLAKE_WEBHOOK_URL; unset the key for sample data.',
    );
  if (sandbox) return;
  if (names.length === 0)
    throw new UsageError(
      'no URL of an API is set',
      'Set LEDGERLAKE_RPC_URL and LEDGERLAKE_API_KEY, in the environment or in .env beside the config. For sample data: --sample, or `sample: true` in ledgerlake.yaml.',
    );
  const name = names.find((url) => keyOf(urls[url].transport) === undefined);
  if (name === undefined) return;
  throw new UsageError(
    `${urls[name].variable} (or api.${urls[name].field}) is set, but no API key`,
    'Set LEDGERLAKE_API_KEY, in the environment or in .env beside the config, or LEDGERLAKE_API_KEY_FILE to a file that holds it; unset every URL for sample data. A key that is part of the URL: write {key} in its place, and set api.auth (docs/providers.md).',
  );
}

/** DuckDB needs about 64 MB per thread for sorting, so more than four threads only divide the memory limit further. */
function defaultThreads(): number {
  return Math.min(4, availableParallelism());
}

function resolveUri(uri: string | undefined, base: string): string | null {
  if (uri === undefined) return null;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(uri) ? uri : resolve(base, uri);
}

/** A path, also after `sqlite:`, is relative to the config file; what `postgres:` is followed by is no path. */
function resolveCatalog(uri: string | undefined, base: string): string | null {
  const [, scheme = '', rest = ''] = /^(sqlite:|postgres:)?(.*)$/s.exec(uri ?? '')!;
  if (uri === undefined) return null;
  return scheme === 'postgres:' ? uri : `${scheme}${resolve(base, rest)}`;
}

function withoutUndefined(limits: ConfigFile['api']['limits']): Config['limits'] {
  return JSON.parse(JSON.stringify(limits)) as Config['limits'];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
