import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isKeyVariable } from '../api/api-key.ts';
import { UsageError } from '../errors.ts';
import { quoteForShell } from '../shell-words.ts';
import { environmentName } from './config-schema.ts';

/** The variables of the environment and of the `.env` files beside the config. */
export interface MergedEnv {
  /** Without the key's variables of `.env` files, which only `readApiKey` reads. */
  env: NodeJS.ProcessEnv;
  /** The chosen environment of the config file; null for none. */
  environment: string | null;
  /** The existing `.env` files; the first wins. */
  envFiles: string[];
  warnings: string[];
}

/** The variables that are read from a `.env` file, which other programs may use too. */
const acceptedNames = /^(LEDGERLAKE|AWS|OTEL)_/;

/**
 * Reads `.env.<environment>` and `.env` beside the config file. A variable of the environment wins, also an empty one.
 * @param config `--config`; the files are looked for beside it, else in `cwd`
 * @param name `--env`; without it LEDGERLAKE_ENV names the environment
 * @throws UsageError for a file that cannot be read, or an invalid name
 */
export function readEnvFiles({
  config,
  name,
  env,
  cwd,
}: {
  config: string | undefined;
  name: string | undefined;
  env: NodeJS.ProcessEnv;
  cwd: string;
}): MergedEnv {
  const folder = config === undefined ? cwd : dirname(resolve(cwd, config));
  const common = readEnvFile(join(folder, '.env'));
  const chosen = name ?? ({ ...common?.variables, ...env }.LEDGERLAKE_ENV?.trim() || undefined);
  if (chosen !== undefined && !environmentName.test(chosen))
    throw new UsageError(
      `${name === undefined ? 'LEDGERLAKE_ENV' : '--env'} takes the name of an environment in the config file, not "${chosen}"`,
      'Names are letters, digits, _ and -. For example: --env prod',
    );
  // `.env.example` is a template.
  const specific =
    chosen === undefined || chosen === 'example' ? null : readEnvFile(join(folder, `.env.${chosen}`));
  const files = [specific, common].filter((file) => file !== null);
  return {
    env: { ...common?.variables, ...specific?.variables, ...env },
    environment: chosen ?? null,
    envFiles: files.map(({ path }) => path),
    warnings: files.flatMap(({ warning }) => warning ?? []),
  };
}

interface EnvFile {
  path: string;
  variables: NodeJS.ProcessEnv;
  warning: string | null;
}

/** Null for a missing file. @throws UsageError when it cannot be read */
function readEnvFile(path: string): EnvFile | null {
  try {
    const { mode } = statSync(path);
    const variables = Object.entries(parseEnv(readFileSync(path, 'utf8'))).filter(
      ([name]) => acceptedNames.test(name) && !isKeyVariable(name),
    );
    const isOpen = (mode & 0o077) !== 0 && process.platform !== 'win32';
    return {
      path,
      variables: Object.fromEntries(variables),
      warning: isOpen ? describeOpen(path, mode) : null,
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new UsageError(
      `cannot read ${path} (${code ?? 'unreadable'})`,
      'Check that this user may read it, or move it away.',
    );
  }
}

function describeOpen(path: string, mode: number): string {
  const bits = (mode & 0o777).toString(8);
  return `other users may read ${path} (mode ${bits}): chmod 600 ${quoteForShell(path)}`;
}
