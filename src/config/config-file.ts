import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { suggestion } from '../suggestion.ts';
import { type ConfigFile, configSchema, sectionsSchema } from './config-schema.ts';
import { urlFault, urls } from './config-urls.ts';
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

/** What the config file says in one environment, defaults filled in. */
export interface ConfigSource {
  values: ConfigFile;
  /** Where its relative paths begin. */
  folder: string;
  /** Where a key of `lake` stands, as errors name it. */
  placeOf(key: string): string;
}

interface FileOptions {
  /** `--config`: must exist. Absent: `ledgerlake.yaml` in cwd when there is one. */
  file?: string;
  cwd: string;
  /** null, the default: none. */
  environment?: string | null;
}

/** @throws UsageError with everything that is wrong with the file, or for an environment that it does not have */
export async function readConfigFile(options: FileOptions): Promise<ConfigSource> {
  const yaml = await readFile(options);
  const { environment = null, cwd } = options;
  return {
    values: yaml === null ? withoutFile(environment) : validateConfig(yaml, environment),
    folder: yaml === null ? cwd : dirname(resolve(cwd, yaml.file)),
    placeOf: (key) => placeOf(yaml, environment, key),
  };
}

async function readFile({ file, cwd }: FileOptions): Promise<YamlFile | null> {
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

/** @throws UsageError: there is no environment where there is no file */
function withoutFile(environment: string | null): ConfigFile {
  if (environment === null) return sectionsSchema.parse({});
  throw new UsageError(
    `there is no config file, so it has no environment "${environment}"`,
    'Name the file with --config, or unset LEDGERLAKE_ENV and leave out --env.',
  );
}

/** What the file says in this environment. @throws UsageError with everything that is wrong with it in any environment */
function validateConfig(yaml: YamlFile, environment: string | null): ConfigFile {
  const checked = validateYaml(yaml, configSchema);
  if (checked.problems) throw configError(checked.problems);
  const { environments, ...common } = checked.value;
  const problems = [
    ...urlProblems(yaml, [], common),
    ...Object.entries(environments).flatMap(([name, own]) => urlProblems(yaml, ['environments', name], own)),
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
  const written = yaml.value as Written & { environments: Record<string, Written> };
  const { environments: own, ...others } = written;
  return sectionsSchema.parse(overlay(others, own[environment]));
}

/** A mapping as it stands in the file, before defaults are filled in. */
type Written = { [key: string]: unknown };

/** The one mapping with what the other says instead, mapping by mapping; a list is replaced as a whole. Pure. */
function overlay(common: unknown, own: unknown): unknown {
  const isMapping = (value: unknown): value is Written =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (own === undefined || own === null) return common;
  if (!isMapping(common) || !isMapping(own)) return own;
  const entries = Object.entries(own).map(([name, value]) => [name, overlay(common[name], value)]);
  return { ...common, ...Object.fromEntries(entries) };
}

function urlProblems(yaml: YamlFile, at: FieldPath, { api }: ConfigFile): Problem[] {
  return Object.values(urls).flatMap(({ field }) => {
    const fault = urlFault(api[field] ?? '');
    return fault === null ? [] : yaml.problem([...at, 'api', field], `${fault.what}; ${fault.remedy}`);
  });
}

/** Where a key of `lake` stands, as errors name it: that of the environment, where it has one. */
function placeOf(yaml: YamlFile | null, environment: string | null, key: string): string {
  const common = ['lake', key];
  if (yaml === null) return fieldText(common);
  const written = yaml.value as { environments?: Record<string, { lake?: Written }> };
  const isOwn = environment !== null && key in (written.environments?.[environment]?.lake ?? {});
  return problemText(yaml.problem(isOwn ? ['environments', environment, ...common] : common, ''));
}

function configError(problems: readonly Problem[]): UsageError {
  return problemsError(problems, 'Correct the config file, or name another with --config.');
}
