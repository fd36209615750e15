import { appendFile, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { LedgerlakeError } from '../errors.ts';
import { openQuerySession, type QuerySession } from '../warehouse/query.ts';
import { writeResult } from './sql-output.ts';

/** What the prompt reads and writes: a terminal, or the streams of a test. */
export interface PromptOptions {
  session: QuerySession;
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  terminal: boolean;
  /** Lines typed before, newest first. */
  history: string[];
  /** Receives each line after it ran. */
  remember(line: string): Promise<void>;
  /** Shows a statement's result. */
  show(sql: string, vertical: boolean, signal: AbortSignal): Promise<void>;
}

const primary = 'ledgerlake> ';
const further = '       ...> ';

const help = `A statement ends with a semicolon and may take several lines. Tab completes tables and columns.
Ctrl-C ends the statement that runs or is typed, Ctrl-D or .quit the prompt.
  .tables            tables and views
  .columns <table>   columns of one
  .vertical          one field a line, and back
  .help              this
  .quit              end
`;

/** `ledgerlake sql` on a terminal. @returns the exit code */
export async function promptOnTerminal(
  snapshot: string,
  { memoryLimit, threads }: { memoryLimit: string; threads: number },
): Promise<number> {
  const { signal } = new AbortController();
  const session = await openQuerySession(snapshot, { memoryLimit, threads, signal });
  // In the home folder: whoever may read the snapshot need not be able to write beside it.
  const file = join(homedir(), '.ledgerlake_history');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  try {
    await runPrompt({
      ...{ session, input: process.stdin, output: process.stdout, terminal: true },
      history: lines.slice(-1000).reverse(),
      // A home folder that cannot be written is no reason to stop.
      remember: (line) => appendFile(file, `${line}\n`, { mode: 0o600 }).catch(() => undefined),
      show: async (sql, vertical, stop) =>
        writeResult(await session.run(sql), { format: 'table', vertical, file: null, signal: stop }),
    });
  } finally {
    session.close();
  }
  return 0;
}

/** Reads statements and shows their results until the input ends. */
export async function runPrompt(options: PromptOptions): Promise<void> {
  const { session, input, output, terminal, history } = options;
  const catalog = await readCatalog(session);
  const lines = createInterface({
    ...{
      input,
      output,
      terminal,
      history,
      historySize: 1000,
      removeHistoryDuplicates: true,
      prompt: primary,
    },
    completer: (line: string) => completeSql(line, catalog),
  });
  const state: PromptState = { typed: '', vertical: false, running: null };
  lines.on('SIGINT', () => stop(lines, state, session));
  // Lines that come while a statement runs wait for it.
  let last = Promise.resolve();
  const ended = new Promise<void>((resolve) => lines.on('close', () => resolve()));
  lines.on('line', (line) => {
    last = last.then(() => takeLine(line, lines, state, catalog, options));
  });
  lines.prompt();
  await ended;
  await last;
}

interface PromptState {
  /** The text of a statement that has not ended yet. */
  typed: string;
  vertical: boolean;
  /** Stops the running statement; null without one. */
  running: AbortController | null;
}

/** Ctrl-C. */
function stop(lines: Interface, state: PromptState, session: QuerySession): void {
  if (state.running !== null) {
    state.running.abort();
    session.interrupt();
    return;
  }
  state.typed = '';
  lines.setPrompt(primary);
  lines.write(null, { ctrl: true, name: 'e' });
  lines.write(null, { ctrl: true, name: 'u' });
  lines.prompt();
}

async function takeLine(
  line: string,
  lines: Interface,
  state: PromptState,
  catalog: Catalog,
  options: PromptOptions,
): Promise<void> {
  if (state.typed === '' && line.trim().startsWith('.')) {
    if (runDotCommand(line.trim(), state, catalog, options.output)) {
      lines.close();
      return;
    }
  } else {
    state.typed = `${state.typed}${line}\n`;
    if (endsStatement(state.typed)) {
      const sql = state.typed;
      state.typed = '';
      await runStatement(sql, state, options);
    }
    if (line.trim() !== '') await options.remember(line);
  }
  if (state.typed.trim() === '') state.typed = '';
  lines.setPrompt(state.typed === '' ? primary : further);
  lines.prompt();
}

/** Whether a text ends with the semicolon that ends a statement: not one in quotes or a comment. Pure. */
export function endsStatement(text: string): boolean {
  const plain = text.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  return !/['"]|\/\*/.test(plain) && plain.trimEnd().endsWith(';');
}

/** Runs a command that begins with a dot. @returns whether it ends the prompt */
function runDotCommand(
  line: string,
  state: PromptState,
  catalog: Catalog,
  output: NodeJS.WritableStream,
): boolean {
  const [word, name] = line.split(/\s+/);
  if (word === '.quit' || word === '.exit') return true;
  if (word === '.tables') output.write(`${[...catalog.keys()].join('\n')}\n`);
  else if (word === '.columns')
    output.write(`${(catalog.get(name ?? '') ?? [`there is no table ${name ?? ''}`]).join('\n')}\n`);
  else if (word === '.vertical') {
    state.vertical = !state.vertical;
    output.write(`one field a line: ${state.vertical ? 'on' : 'off'}\n`);
  } else output.write(word === '.help' ? help : `${word} is not known; .help lists what is\n`);
  return false;
}

async function runStatement(sql: string, state: PromptState, options: PromptOptions): Promise<void> {
  const running = new AbortController();
  state.running = running;
  // DuckDB forgets an interruption that comes between two steps of a statement.
  const repeat = setInterval(() => running.signal.aborted && options.session.interrupt(), 50);
  try {
    await options.show(sql, state.vertical, running.signal);
  } catch (error) {
    if (running.signal.aborted) options.output.write('stopped\n');
    else options.output.write(describeFailure(error));
  } finally {
    clearInterval(repeat);
    state.running = null;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof LedgerlakeError) return `${error.message}\n  ${error.hint}\n`;
  return `${error instanceof Error ? error.message : String(error)}\n`;
}

/** Columns by table or view; those of other schemas with the schema before the name. */
export type Catalog = ReadonlyMap<string, readonly string[]>;

/** Reads the tables and columns of a snapshot. */
export async function readCatalog(session: QuerySession): Promise<Catalog> {
  const result = await session.run(
    `select if(schema_name = 'main', '', schema_name || '.') || table_name, list(column_name order by column_index)::varchar[]
    from duckdb_columns()
    where database_name = current_database() and schema_name in ('main', 'meta') and not internal
    group by schema_name, table_name
    order by schema_name, table_name`,
  );
  const catalog = new Map<string, readonly string[]>();
  for await (const rows of result.rows())
    for (const [name, columns] of rows)
      catalog.set(String(name), (columns as unknown as { items: readonly string[] }).items);
  return catalog;
}

const dotCommands = ['.tables', '.columns', '.vertical', '.help', '.quit'];

/**
 * Completions of the last word of a line, as Node's readline takes them: tables and columns, only those of the tables
 * that the line names. Pure.
 */
export function completeSql(line: string, catalog: Catalog): [string[], string] {
  const word = /[\w.]*$/.exec(line)?.[0] ?? '';
  if (/^\s*\.\w*$/.test(line)) return [dotCommands.filter((name) => name.startsWith(word)), word];
  const [table, column] = splitColumn(word, catalog);
  if (column !== null)
    return [
      (catalog.get(table) ?? []).filter((name) => name.startsWith(column)).map((name) => `${table}.${name}`),
      word,
    ];
  const tables = [...catalog.keys()];
  if (/\b(from|join|columns)\s+[\w.]*$/i.test(line))
    return [tables.filter((name) => name.startsWith(word)), word];
  const named = tables.filter((name) => new RegExp(`\\b${name.replace('.', '\\.')}\\b`).test(line));
  const columns = (named.length > 0 ? named : tables).flatMap((name) => catalog.get(name) ?? []);
  const all = [...new Set([...columns, ...tables])].filter((name) => name.startsWith(word));
  return [all.sort(), word];
}

/** `assets.own` into table and column; null where the part before the last dot is no table. */
function splitColumn(word: string, catalog: Catalog): [string, string | null] {
  const dot = word.lastIndexOf('.');
  const table = word.slice(0, dot);
  return dot > 0 && catalog.has(table) ? [table, word.slice(dot + 1)] : [word, null];
}
