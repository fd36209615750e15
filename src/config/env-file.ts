import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { isKeyVariable } from '../api/api-key.ts';
import { UsageError } from '../errors.ts';
import { quoteForShell } from '../shell-words.ts';
import { environmentName } from './config-schema.ts';

/** What the environment and the `.env` files beside the config say together. */
export interface Surroundings {
  /** Without what a `.env` file says of the key: that is `readApiKey`'s to read. */
  env: NodeJS.ProcessEnv;
  /** The environment of the config file that is meant; null: none. */
  environment: string | null;
  /** The `.env` files there are, the first wins. */
  envFiles: string[];
  /** What is wrong with them and stops nothing. */
  warnings: string[];
}

/** What of a `.env` file is taken: it may be another program's, too, and `PATH` is nobody's to set there. */
const taken = /^(LEDGERLAKE|AWS|OTEL)_/;

/**
 * Reads `.env.<environment>` and `.env` beside the config file. A variable of the environment wins, an empty one too.
 * @param config `--config`; the files are looked for beside it, else in `cwd`
 * @param name `--env`; else LEDGERLAKE_ENV says which environment
 * @throws UsageError for a file that cannot be read, or a name that is none
 */
export function readSurroundings({
  config,
  name,
  env,
  cwd,
}: {
  config: string | undefined;
  name: string | undefined;
  env: NodeJS.ProcessEnv;
  cwd: string;
}): Surroundings {
  const folder = config === undefined ? cwd : dirname(resolve(cwd, config));
  const common = readEnvFile(join(folder, '.env'));
  const chosen = name ?? ({ ...common?.variables, ...env }.LEDGERLAKE_ENV?.trim() || undefined);
  if (chosen !== undefined && !environmentName.test(chosen))
    throw new UsageError(
      `${name === undefined ? 'LEDGERLAKE_ENV' : '--env'} takes the name of an environment in the config file, not "${chosen}"`,
      'Names are letters, digits, _ and -. For example: --env prod',
    );
  // `.env.example` is there to be copied.
  const own =
    chosen === undefined || chosen === 'example' ? null : readEnvFile(join(folder, `.env.${chosen}`));
  const files = [own, common].filter((file) => file !== null);
  return {
    env: { ...common?.variables, ...own?.variables, ...env },
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

/** Null when it is not there. @throws UsageError when it cannot be read */
function readEnvFile(path: string): EnvFile | null {
  try {
    const { mode } = statSync(path);
    const variables = Object.entries(parseEnv(readFileSync(path, 'utf8'))).filter(
      ([name]) => taken.test(name) && !isKeyVariable(name),
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
