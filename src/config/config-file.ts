import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { endpointFault, endpointVariables } from '../api/http.ts';
import { UsageError } from '../errors.ts';
import { suggestion } from '../suggestion.ts';
import { type ConfigFile, configSchema, sectionsSchema } from './config-schema.ts';
import {
  type FieldPath,
  fieldText,
  type Problem,
  problemsError,
  problemText,
  readYamlFile,
  validateYaml,
  type YamlFile,
} from './yaml-file.ts';

/** Base URLs of the interfaces: the interface, its variable and its field of the config file. */
export const urls = {
  rpcUrl: { transport: 'rpc', variable: endpointVariables.rpc, field: 'rpc_url' },
  walletUrl: { transport: 'wallet', variable: endpointVariables.wallet, field: 'wallet_url' },
  webhookUrl: { transport: 'webhook', variable: endpointVariables.webhook, field: 'webhook_url' },
} as const;

export type UrlName = keyof typeof urls;

/** The config file's values in one environment, defaults filled in. */
export interface ConfigSource {
  values: ConfigFile;
  /** The folder to which its paths are relative. */
  folder: string;
  /** File, line and name of a key of `lake`, for errors. */
  locate(key: string): string;
}

interface FileOptions {
  /** `--config`: must exist. Absent: `ledgerlake.yaml` in cwd when there is one. */
  file?: string;
  cwd: string;
  /** Default: null, for none. */
  environment?: string | null;
}

/** @throws UsageError with all problems of the file, or for an environment that it does not have */
export async function readConfigFile(options: FileOptions): Promise<ConfigSource> {
  const yaml = await readFile(options);
  const { environment = null, cwd } = options;
  return {
    values: yaml === null ? withoutFile(environment) : validateConfig(yaml, environment),
    folder: yaml === null ? cwd : dirname(resolve(cwd, yaml.file)),
    locate: (key) => locate(yaml, environment, key),
  };
}

async function readFile({ file, cwd }: FileOptions): Promise<YamlFile | null> {
  const path = file ?? 'ledgerlake.yaml';
  const fullPath = isAbsolute(path) ? path : join(cwd, path);
  if (file === undefined && !(await exists(fullPath))) {
    await refuseOtherName(cwd);
    return null;
  }
  const yaml = await readYamlFile(fullPath, file !== undefined);
  if (yaml.problems) throw configError(yaml.problems);
  // A file of comments only sets nothing.
  return { ...yaml.value, value: yaml.value.value ?? {} };
}

/** Refuses a file that looks like the config but is not read: a budget in it would not hold. */
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

/** The defaults. @throws UsageError for an environment, which only a file can have */
function withoutFile(environment: string | null): ConfigFile {
  if (environment === null) return sectionsSchema.parse({});
  throw new UsageError(
    `there is no config file, so it has no environment "${environment}"`,
    'Name the file with --config, or unset LEDGERLAKE_ENV and leave out --env.',
  );
}

/** The file's values in this environment. @throws UsageError with its problems in all environments */
function validateConfig(yaml: YamlFile, environment: string | null): ConfigFile {
  const checked = validateYaml(yaml, configSchema);
  if (checked.problems) throw configError(checked.problems);
  const { environments, ...common } = checked.value;
  const problems = [
    ...urlProblems(yaml, [], common),
    ...Object.entries(environments).flatMap(([name, sections]) =>
      urlProblems(yaml, ['environments', name], sections),
    ),
  ];
  if (problems.length > 0) throw configError(problems);
  const names = Object.keys(environments);
  if (environment === null && names.length === 0) return common;
  if (environment === null)
    throw new UsageError(
      `${yaml.file} has the environments ${names.join(', ')}: choose one`,
      `Say it with --env ${names[0]}, or LEDGERLAKE_ENV=${names[0]}.`,
    );
  if (!names.includes(environment))
    throw new UsageError(
      `${yaml.file} has no environment "${environment}"${suggestion(environment, names)}`,
      names.length === 0 ? 'It has no `environments:`.' : `It has ${names.join(', ')}.`,
    );
  const mapping = yaml.value as Mapping & { environments: Record<string, Mapping> };
  const { environments: overrides, ...base } = mapping;
  return sectionsSchema.parse(overlay(base, overrides[environment]));
}

/** A mapping of the file, before defaults are filled in. */
type Mapping = { [key: string]: unknown };

/** The base with the overrides of an environment, mapping by mapping. A list is replaced as a whole. Pure. */
function overlay(base: unknown, overrides: unknown): unknown {
  const isMapping = (value: unknown): value is Mapping =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (overrides === undefined || overrides === null) return base;
  if (!isMapping(base) || !isMapping(overrides)) return overrides;
  const entries = Object.entries(overrides).map(([name, value]) => [name, overlay(base[name], value)]);
  return { ...base, ...Object.fromEntries(entries) };
}

function urlProblems(yaml: YamlFile, parent: FieldPath, { api }: ConfigFile): Problem[] {
  return Object.values(urls).flatMap(({ field }) => {
    const url = api[field] ?? '';
    const fault = url === '' ? null : endpointFault(url);
    return fault === null ? [] : yaml.problem([...parent, 'api', field], `${fault.what}; ${fault.remedy}`);
  });
}

/** File, line and name of a key of `lake`: the environment's, if it sets the key. */
function locate(yaml: YamlFile | null, environment: string | null, key: string): string {
  const field = ['lake', key];
  if (yaml === null) return fieldText(field);
  const { environments } = yaml.value as { environments?: Record<string, { lake?: Mapping }> };
  const isOverridden = environment !== null && key in (environments?.[environment]?.lake ?? {});
  return problemText(yaml.problem(isOverridden ? ['environments', environment, ...field] : field, ''));
}

function configError(problems: readonly Problem[]): UsageError {
  return problemsError(problems, 'Correct the config file, or name another with --config.');
}
