import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { findKeyVariable } from './api/api-key.ts';
import { isLoopback } from './api/http.ts';
import { defaultKeyPlaces, type KeyPlaces, keyMark, parseKeyPlace } from './api/key-place.ts';
import type { Pool } from './api/operation.ts';
import { type ConfigFile, configSchema } from './config-schema.ts';
import { UsageError } from './errors.ts';
import type { Thresholds } from './thresholds.ts';
import {
  fieldText,
  type Problem,
  problemsError,
  problemText,
  readYamlFile,
  validateYaml,
  type YamlFile,
} from './yaml-file.ts';

/** One rate pool's limit as the plan states it; what is left out is found out. */
export interface PoolLimit {
  /** Requests a second. */
  rps?: number;
  /** How many may go at once above the even rate. */
  burst?: number;
  /** Most requests in flight. */
  concurrency?: number;
}

/** Everything a run is told by its environment and `ledgerlake.yaml`; defaults filled in. */
export interface Config {
  rpcUrl: string | undefined;
  walletUrl: string | undefined;
  webhookUrl: string | undefined;
  /** Where each interface wants the key. */
  keyPlaces: KeyPlaces;
  /** `.env` files that may hold the key, the first wins. */
  envFiles: readonly string[];
  limits: Partial<Record<Pool, PoolLimit>>;
  /** Credits one call costs, by operation; what is not listed costs what the catalogue says. */
  credits: Readonly<Record<string, number>>;
  /** Credits that may be spent in a billing month; null: no budget. */
  monthlyCredits: number | null;
  /** Day of the month (1 to 28, UTC) on which the budget starts anew. */
  billingDay: number;
  /** By operation: our parameter's name → the provider's. */
  paramNames: Readonly<Record<string, Readonly<Record<string, string>>>>;
  timeoutMs: number;
  warehouse: {
    memoryLimit: string;
    threads: number;
    keepRawDays: number;
    /** Share of a task's records that may be quarantined before it is not published. */
    quarantineLimit: number;
    /** How much may be wrong with a night. */
    guards: Thresholds;
    /** Permission bits of the snapshot (less its write bits) and the lake. */
    fileMode: number;
  };
  lake: {
    /** Absolute path or `scheme://…`; null: `lake` in the data folder. */
    uri: string | null;
    /** null: every table. */
    tables: string[] | null;
    /** By table: columns its files are split by. */
    partitionBy: Readonly<Record<string, readonly string[]>>;
    keep: number;
    /** Where `tables` and `partition_by` stand, as errors name it: `ledgerlake.yaml:3: lake.tables`. */
    places: { tables: string; partitionBy: string };
  };
  /** No URL is set at all: the embedded sample API answers. */
  sandbox: boolean;
}

export interface ConfigOptions {
  /** `--config`: must exist. Absent: `ledgerlake.yaml` in cwd when there is one. */
  file?: string;
  env: NodeJS.ProcessEnv;
  /** `.env` files that may hold the key, the first wins. Default: none. */
  envFiles?: readonly string[];
  cwd: string;
  /** False for commands that ask the API nothing: they need no key. Default: true. */
  asks?: boolean;
}

const urls = {
  rpcUrl: { variable: 'LEDGERLAKE_RPC_URL', field: 'rpc_url' },
  walletUrl: { variable: 'LEDGERLAKE_WALLET_URL', field: 'wallet_url' },
  webhookUrl: { variable: 'LEDGERLAKE_WEBHOOK_URL', field: 'webhook_url' },
} as const;

type UrlName = keyof typeof urls;

/**
 * Reads the environment and the config file; the environment wins, empty variables count as unset. The key is
 * not read here, only missed: a URL without LEDGERLAKE_API_KEY or LEDGERLAKE_API_KEY_FILE is an error, and the other way round.
 * @throws UsageError (exit 2) with everything that is wrong with the file, or with the first wrong variable
 */
export async function readConfig(options: ConfigOptions): Promise<Config> {
  const yaml = await readConfigFile(options);
  const file = yaml === null ? configSchema.parse({}) : validateConfig(yaml);
  const endpoints = readUrls(options.env, file);
  const sandbox = Object.values(endpoints).every((url) => url === undefined);
  const { api, warehouse, lake } = file;
  const keyPlaces = readKeyPlaces(api.auth, endpoints);
  const { env, envFiles = [] } = options;
  if (options.asks !== false) requireBoth(findKeyVariable(env, envFiles)?.name, { endpoints, sandbox });
  return {
    ...endpoints,
    keyPlaces,
    envFiles,
    limits: withoutUndefined(api.limits),
    credits: api.credits,
    monthlyCredits: api.monthly_credits ?? null,
    billingDay: api.billing_day,
    paramNames: api.param_names,
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
      uri: resolveUri(lake.uri, yaml === null ? options.cwd : dirname(resolve(options.cwd, yaml.file))),
      tables: lake.tables ?? null,
      partitionBy: lake.partition_by,
      keep: lake.keep,
      places: { tables: placeOf(yaml, 'tables'), partitionBy: placeOf(yaml, 'partition_by') },
    },
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

async function readConfigFile({ file, cwd }: ConfigOptions): Promise<YamlFile | null> {
  const path = file ?? 'ledgerlake.yaml';
  const place = isAbsolute(path) ? path : join(cwd, path);
  if (file === undefined && !(await exists(place))) {
    await refuseOtherName(cwd);
    return null;
  }
  const yaml = await readYamlFile(place, file !== undefined);
  if (yaml.problems) throw configError(yaml.problems);
  // A file of comments only is a config file with nothing set.
  return { ...yaml.value, value: yaml.value.value ?? {} };
}

/** A file that looks like the config and is not read would be obeyed in nothing: no budget would hold. */
async function refuseOtherName(cwd: string): Promise<void> {
  const other = join(cwd, 'ledgerlake.yml');
  if (!(await exists(other))) return;
  throw new UsageError(
    `${other} is not read: the config file is called ledgerlake.yaml`,
    'Rename it to ledgerlake.yaml, or name it with --config ledgerlake.yml.',
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}

function validateConfig(yaml: YamlFile): ConfigFile {
  const checked = validateYaml<ConfigFile>(yaml, configSchema);
  if (checked.problems) throw configError(checked.problems);
  const problems: Problem[] = [];
  for (const { field } of Object.values(urls)) {
    const fault = urlFault(checked.value.api[field] ?? '');
    if (fault !== null) problems.push(yaml.problem(['api', field], `${fault.what}; ${fault.remedy}`));
  }
  if (problems.length > 0) throw configError(problems);
  return checked.value;
}

function placeOf(yaml: YamlFile | null, key: string): string {
  const field = ['lake', key];
  return yaml === null ? fieldText(field) : problemText(yaml.problem(field, ''));
}

function configError(problems: readonly Problem[]): UsageError {
  return problemsError(problems, 'Correct the config file, or name another with --config.');
}

function readUrls(env: NodeJS.ProcessEnv, file: ConfigFile): Record<UrlName, string | undefined> {
  const read = (name: UrlName): string | undefined => {
    const { variable, field } = urls[name];
    const fromEnv = env[variable]?.trim() ?? '';
    const fault = urlFault(fromEnv);
    if (fault !== null) throw new UsageError(`${variable} ${fault.what}`, `${sentence(fault.remedy)}.`);
    return fromEnv || file.api[field] || undefined;
  };
  return { rpcUrl: read('rpcUrl'), walletUrl: read('walletUrl'), webhookUrl: read('webhookUrl') };
}

/** What is wrong with an endpoint; null when nothing is, or when it is empty. The URL is not repeated: it may hold a key. */
export function urlFault(text: string): { what: string; remedy: string } | null {
  if (text === '') return null;
  if (!URL.canParse(text))
    return { what: 'is not a URL', remedy: 'write something like https://api.example.com' };
  const url = new URL(text);
  if (url.username || url.password || url.search || url.hash) {
    return {
      what: 'carries a query or credentials',
      remedy: 'keep only scheme, host and path; the key belongs in LEDGERLAKE_API_KEY',
    };
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.origin))) return null;
  return { what: 'is not https', remedy: 'use https://, plain http is for this machine only' };
}

/** @throws UsageError where a URL says that the key is part of it, and `api.auth` says that it goes elsewhere */
function readKeyPlaces(
  auth: ConfigFile['api']['auth'],
  { rpcUrl, walletUrl, webhookUrl }: Record<UrlName, string | undefined>,
): KeyPlaces {
  const given = Object.entries(auth).map(([name, text = '']) => [name, parseKeyPlace(text)] as const);
  const places: KeyPlaces = {
    ...defaultKeyPlaces,
    ...Object.fromEntries(given.filter(([, place]) => place !== null)),
  };
  for (const [name, url] of Object.entries({ rpc: rpcUrl, wallet: walletUrl, webhook: webhookUrl }))
    if (url?.includes(keyMark) && places[name as keyof KeyPlaces].in !== 'path')
      throw new UsageError(
        `the URL of the ${name} interface has ${keyMark} in it, but the key goes elsewhere`,
        `Set in ledgerlake.yaml: api: { auth: { ${name}: path } }, or take ${keyMark} out of the URL.`,
      );
  return places;
}

/** A key and no URL is a mistake in the environment too: the first night of a new folder would be sample data. */
function requireBoth(
  key: string | undefined,
  { endpoints, sandbox }: { endpoints: Record<UrlName, string | undefined>; sandbox: boolean },
): void {
  if (sandbox && key !== undefined)
    throw new UsageError(
      `${key} is set, but no URL`,
      'Set LEDGERLAKE_RPC_URL, or LEDGERLAKE_WALLET_URL or LEDGERLAKE_WEBHOOK_URL; unset the key for the sandbox.',
    );
  if (sandbox || key !== undefined) return;
  const name = (Object.keys(urls) as UrlName[]).find((url) => endpoints[url] !== undefined)!;
  throw new UsageError(
    `${urls[name].variable} (or api.${urls[name].field}) is set, but no API key`,
    'Set LEDGERLAKE_API_KEY, or LEDGERLAKE_API_KEY_FILE to a file that holds it; unset every URL for the sandbox. A key that is part of the URL: write {key} in its place, and set api.auth.',
  );
}

/** DuckDB wants about 64 MB a thread when it sorts; more threads than four only divide the memory limit further. */
function defaultThreads(): number {
  return Math.min(4, availableParallelism());
}

function resolveUri(uri: string | undefined, base: string): string | null {
  if (uri === undefined) return null;
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(uri) ? uri : resolve(base, uri);
}

function withoutUndefined(limits: ConfigFile['api']['limits']): Config['limits'] {
  return JSON.parse(JSON.stringify(limits)) as Config['limits'];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
