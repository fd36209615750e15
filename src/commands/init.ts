import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../errors.ts';
import { listJobNames } from '../jobs/job-file.ts';
import { address } from '../operations/operation.ts';
import { packageRoot } from '../package-root.ts';
import { type Followed, type Schedule, schedules } from '../project/project.ts';
import { projectFiles } from '../project/project-files.ts';
import { type Written, writeProject } from '../project/write-project.ts';
import { editorCommand, quoteForShell } from '../shell-words.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { readVersion } from './program.ts';
import { isOnPath } from './report-failure.ts';
import type { Usage } from './usage.ts';

interface InitArgs extends GlobalArgs {
  dir: string;
  collection?: string[];
  creator?: string[];
  owner?: string[];
  wallet?: string[];
  schedule?: Schedule[];
  yes: boolean;
}

/** Arguments and options of `ledgerlake init`. */
export const usage: Usage = {
  arguments: { '<dir>': 'Folder of the new project; created if missing' },
  options: {
    '--collection <address>': {
      describe: 'Follow the assets of this collection; may be repeated',
      repeat: true,
    },
    '--creator <address>': { describe: 'Follow the assets of this creator; may be repeated', repeat: true },
    '--owner <address>': {
      describe: 'Follow the token accounts of this owner; may be repeated',
      repeat: true,
    },
    '--wallet <address>': {
      describe: 'Follow balances and transfers of this wallet; may be repeated',
      repeat: true,
    },
    '--schedule <kind>': {
      describe: 'Also write what runs it every night; may be repeated',
      choices: schedules,
      repeat: true,
    },
    '--yes': 'Ask nothing',
  },
  examples: {
    'ledgerlake init my-lake': 'Asks what to follow',
    'ledgerlake init my-lake --collection <address> --schedule cron --yes': 'From a script',
    'ledgerlake init try-it --sample': 'Follows collections of the sample API inside the program',
  },
  notes:
    'Writes a commented ledgerlake.yaml, jobs and their target files, .env.example and .gitignore. It overwrites no file and sends no request.',
};

const kinds = ['collections', 'creators', 'owners', 'wallets'] as const;

/** `ledgerlake init <dir>`. */
export async function execute(args: InitArgs): Promise<number> {
  const given: Followed = {
    collections: readAddresses(args.collection ?? [], '--collection'),
    creators: readAddresses(args.creator ?? [], '--creator'),
    owners: readAddresses(args.owner ?? [], '--owner'),
    wallets: readAddresses(args.wallet ?? [], '--wallet'),
  };
  const folder = resolve(args.dir);
  const hasJobs = (await listJobNames(join(folder, 'jobs')).catch(() => [])).length > 0;
  const isSample = args.sample === true;
  const answers = hasAny(given) || args.yes || hasJobs || isSample ? null : await ask(args);
  const followed = answers?.followed ?? given;
  if (!hasAny(followed) && !hasJobs && !isSample)
    throw new UsageError(
      'there is nothing to follow',
      'Give --collection, --creator, --owner or --wallet; or --sample for collections of the sample API inside the program.',
    );
  const files = projectFiles({
    followed: isSample ? { ...followed, collections: [...followed.collections, ...readSample()] } : followed,
    isSample,
    schedules: args.schedule ?? answers?.schedules ?? [],
    folder,
    program: programWords(),
    version: readVersion(),
  });
  const result = await writeProject(folder, files);
  createPrint(args, (text) => text)(renderResult(args.dir, result, isSample), { folder, ...result });
  return 0;
}

function hasAny(followed: Followed): boolean {
  return kinds.some((kind) => followed[kind].length > 0);
}

/** @param source the option or question, for the message @throws UsageError */
function readAddresses(words: readonly string[], source: string): string[] {
  const addresses = words.flatMap((word) => word.split(/[\s,]+/)).filter((word) => word !== '');
  for (const word of addresses)
    if (!address.safeParse(word).success)
      throw new UsageError(
        `${source} takes base58 addresses of 32 to 44 characters, not "${word}"`,
        /[0OIl]/.test(word)
          ? 'Copy the address again: base58 has no 0, O, I or l.'
          : 'Copy the address again.',
      );
  return [...new Set(addresses)];
}

/** Asks on the terminal. @throws UsageError without a terminal */
async function ask({ schedule }: InitArgs): Promise<{ followed: Followed; schedules: Schedule[] }> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      'there is no terminal to ask what to follow',
      'Give --collection, --creator, --owner or --wallet; or --sample for collections of the sample API inside the program.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answers: Record<string, string[]> = {};
  try {
    process.stderr.write('What to follow? Addresses, separated by spaces; Enter for none.\n');
    for (const kind of kinds)
      answers[kind] = await askUntilRight(terminal, `  ${kind}: `, (text) => readAddresses([text], kind));
    const question = `Every night by (${schedules.join(', ')}; Enter: none): `;
    return {
      followed: answers as never,
      schedules: schedule ?? (await askUntilRight(terminal, question, readSchedules)),
    };
  } finally {
    terminal.close();
  }
}

/** Asks again after an answer that `read` refuses. */
async function askUntilRight<T>(
  terminal: Interface,
  question: string,
  read: (text: string) => T,
): Promise<T> {
  for (;;) {
    const text = await terminal.question(question);
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      process.stderr.write(`${error.message}\n  ${error.hint}\n`);
    }
  }
}

/** @throws UsageError */
function readSchedules(text: string): Schedule[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  for (const word of words)
    if (!(schedules as readonly string[]).includes(word))
      throw new UsageError(`"${word}" is not a schedule`, `Schedules are ${schedules.join(', ')}.`);
  return words as Schedule[];
}

/** Collections of the sample API, as the bundled jobs have them. */
function readSample(): string[] {
  const text = readFileSync(new URL('jobs/targets/collections.txt', packageRoot), 'utf8');
  return text.split('\n').filter((line) => address.safeParse(line).success);
}

/** Starts this program from anywhere: a scheduler has another PATH. */
function programWords(): string[] {
  return [process.execPath, fileURLToPath(new URL('dist/cli.js', packageRoot))];
}

/** What was written, and what to type next. Pure. */
function renderResult(dir: string, { written, kept }: Written, isSample: boolean): string {
  const lines = written.map((path) => `wrote ${path}`);
  lines.push(...kept.map((path) => `kept ${path}, which was there`));
  if (kept.length > 0) return lines.join('\n');
  // One command a line, and nothing else: not every shell takes a comment behind one.
  const alias = `alias ledgerlake=${quoteForShell(programWords().map(quoteForShell).join(' '))}`;
  const env = `cp -n .env.example .env && chmod 600 .env && ${editorCommand} .env`;
  const sample = isSample ? ' (until then the sample API inside the program answers)' : '';
  lines.push('', 'Next, in this shell:', '', `cd ${quoteForShell(dir)}`);
  if (!isOnPath()) lines.push(alias);
  lines.push(
    '',
    `Then set the URL and the key of your provider${sample}:`,
    '',
    env,
    '',
    'And see what there is, what it would cost, and run:',
    '',
  );
  lines.push(...['jobs check', 'doctor', 'plan', 'run'].map((command) => `ledgerlake ${command}`));
  return lines.join('\n');
}
