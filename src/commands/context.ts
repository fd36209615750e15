import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { type Config, readConfig } from '../config/config.ts';
import { readEnvFiles } from '../config/env-file.ts';
import { type DataFolder, dataFolder, refuseOddPath } from '../data-folder.ts';
import { noteResult } from '../json-output.ts';
import { canRedraw, sizeOf, writeStderr } from '../screen.ts';
import { renderLogLine } from './log-text.ts';
import { asCalled } from './report-failure.ts';
import { wrapText } from './visible-text.ts';

/** Options that every command takes. */
export interface GlobalArgs {
  config?: string;
  /** Environment of the config file. */
  env?: string;
  /** Default: the folder of the environment, `data` without one. */
  dataDir?: string;
  jobsDir: string;
  /** Asks for sample data. */
  sample?: boolean;
  json: boolean;
  logLevel: string;
  /** Default: text on a terminal, else json. */
  logFormat?: 'json' | 'text';
  progress: boolean;
}

/** What a command works with. */
export interface Context {
  config: Config;
  folder: DataFolder;
  jobsDir: string;
  json: boolean;
  log: Logger;
  /** One progress line a job; only on a terminal, and not when asked not to. */
  showProgress: boolean;
  /** Prints a line for the user, apart from results and the log. */
  tell(line: string): void;
  /** A result on stdout: text, or the document of `--json`. */
  print(text: string, document: unknown): void;
}

/** Receives the log and the lines for the user, instead of stderr. */
export type Listener = Pick<Context, 'log' | 'tell'>;

/**
 * Reads config and environment.
 * @param asks false for commands that send no request: they need no key
 * @throws UsageError
 */
export async function openContext(
  args: GlobalArgs,
  { asks = true, listener }: { asks?: boolean; listener?: Listener } = {},
): Promise<Context> {
  const { log, tell } = listener ?? { log: createLog(args), tell: tellOnStderr };
  const config = await openConfig(args, asks, tell);
  return {
    config,
    folder: chooseFolder(args, config.environment),
    jobsDir: args.jobsDir,
    json: args.json,
    log,
    tell,
    showProgress: args.progress && canRedraw(process.stderr, process.env) && !args.json,
    print: createPrint(args),
  };
}

/**
 * Reads config, environment and the `.env` files beside the config, and warns of mistakes in those. Their variables,
 * except the key, become this process's environment.
 * @throws UsageError
 */
export async function openConfig(
  args: Pick<GlobalArgs, 'config' | 'env' | 'sample'>,
  asks: boolean,
  tell: Context['tell'] = tellOnStderr,
): Promise<Config> {
  const cwd = process.cwd();
  const { env, environment, envFiles, warnings } = readEnvFiles({
    config: args.config,
    name: args.env,
    env: process.env,
    cwd,
  });
  for (const warning of warnings) tell(`warning: ${warning}`);
  Object.assign(process.env, env);
  const file = args.config === undefined ? {} : { file: args.config };
  const sample = args.sample === true;
  return readConfig({ ...file, env, envFiles, environment, needsKey: asks, sample, cwd });
}

function tellOnStderr(line: string): void {
  process.stderr.write(`ledgerlake: ${line}\n`);
}

/** The data folder that is named, else the one of the environment. @throws UsageError for a path that DuckDB cannot open */
export function chooseFolder(
  { dataDir }: Pick<GlobalArgs, 'dataDir'>,
  environment: string | null,
): DataFolder {
  const folder = dataFolder(dataDir ?? (environment === null ? 'data' : join('data', environment)));
  refuseOddPath(folder.root, '--data-dir');
  return folder;
}

/**
 * The `print` of a context, for commands that need no config.
 * @param show makes commands in the text ready to paste
 */
export function createPrint({ json }: Pick<GlobalArgs, 'json'>, show = asCalled): Context['print'] {
  return (text, document) => {
    const output = json ? toJson(document) : show(text);
    noteResult();
    process.stdout.write(output.endsWith('\n') ? output : `${output}\n`);
  };
}

/** Log lines go to stderr; stdout carries results only. */
export function createLog(args: Pick<GlobalArgs, 'logLevel' | 'logFormat'>): Logger {
  const format = args.logFormat ?? (process.stderr.isTTY ? 'text' : 'json');
  return pino(
    { level: args.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    // Node writes to stderr synchronously: no line is lost when the process dies.
    { write: (line) => writeStderr(format === 'text' ? wrapLogLine(renderLogLine(line)) : line) },
  );
}

/** Breaks a long line so that it continues below the sentence, not below the time. */
function wrapLogLine(line: string): string {
  return wrapText(line, process.stderr.isTTY ? sizeOf(process.stderr).columns : null, '00:00:00 '.length);
}

/** JSON with bigints as numbers of full precision. */
export function toJson(document: unknown): string {
  const marked = JSON.stringify(
    document,
    (_, value) => (typeof value === 'bigint' ? `\u0000bigint:${value}` : value),
    2,
  );
  return marked.replace(/"\\u0000bigint:(-?\d+)"/g, '$1');
}
