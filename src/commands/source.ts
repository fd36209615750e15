import { rm } from 'node:fs/promises';
import { type ApiKey, readApiKey } from '../api/api-key.ts';
import { endpointFault } from '../api/http.ts';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';
import { listMoves } from '../run/moved-source.ts';
import { withSession } from '../run/open-session.ts';
import { publishLoaded } from '../run/publish-stage.ts';
import { readRunLog } from '../run/run-log.ts';
import { readSource } from '../warehouse/build.ts';
import { openDatabase } from '../warehouse/database.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';
import { askYes } from './stdio.ts';
import type { Usage } from './usage.ts';

interface SourceArgs extends GlobalArgs {
  action: 'show' | 'move';
  url?: string;
  interface?: string;
  yes: boolean;
}

const interfaces = ['rpc', 'wallet', 'webhook'];

/** Arguments and options of `ledgerlake source`. */
export const usage: Usage = {
  arguments: {
    '<action>': { describe: 'show: the bound URLs; move: bind to another', choices: ['show', 'move'] },
    '[url]': 'move: the new URL of the same ledger',
  },
  options: {
    '--interface <name>':
      'move: rpc, wallet or webhook (default: those that are bound where rpc is, or the only one)',
    '--yes': 'move: do not ask',
  },
  examples: {
    'ledgerlake source show': 'The URL that each interface is bound to, without the key',
    'ledgerlake source move https://rpc.example.com --yes': 'Another provider, or another name of this one',
  },
  notes:
    "Rows, history and complete crawls stay; open crawls start over and cursors are dropped, because they are the former provider's. It sends no request. Set LEDGERLAKE_RPC_URL to the new URL, too.",
};

/** `ledgerlake source show|move`. */
export async function execute(args: SourceArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const bound = await readBound(context);
  if (args.action === 'move') return move(args, context, bound);
  const lines = [...bound].map(([name, origin]) => `${name}: ${origin}`);
  context.print(lines.length === 0 ? 'bound to nothing yet' : lines.join('\n'), Object.fromEntries(bound));
  return 0;
}

/** The bound sources by interface, from the snapshot or, before there is one, from the build; a move counts once it is logged. */
async function readBound({ folder, config }: Context): Promise<Map<string, string>> {
  const path = (await exists(folder.snapshot)) ? folder.snapshot : folder.build;
  if (!(await exists(path)))
    throw new UsageError(
      `nothing was run in ${folder.root} yet, so it is bound to no API`,
      'The first `ledgerlake run` binds it; or name another folder with --data-dir.',
    );
  const { memoryLimit, threads } = config.warehouse;
  const database = await openDatabase(path, { memoryLimit, threads, tempDir: folder.temp, readOnly: true });
  const bound = await readSource(database).finally(() => database.close());
  for (const { transport, origin } of listMoves(await readRunLog(folder.runs)))
    if (bound.has(transport)) bound.set(transport, origin);
  return bound;
}

async function move(args: SourceArgs, context: Context, bound: Map<string, string>): Promise<number> {
  const origin = readOrigin(args.url, readApiKey(process.env, { envFiles: context.config.envFiles }));
  const moved = chooseMoved(args, bound, origin);
  const former = [...new Set(Object.keys(moved).map((name) => bound.get(name)))].join(', ');
  const what = `${origin} takes over the data of ${former} in ${context.folder.root} (${Object.keys(moved).join(', ')})`;
  if (!args.yes)
    await askYes(`${what}.\nIs it the same ledger?`, {
      unattended: new UsageError(
        `${what}: there is no terminal to confirm on`,
        'Add --yes if the new URL serves the same ledger.',
      ),
      declined: new UsageError('not moved', 'Nothing was changed.'),
    });
  const session = { ...context, verb: 'source', jobs: [], origins: {}, moved };
  const { exitCode } = await withSession(session, async (session) => {
    // The learnt rates are the former provider's.
    await rm(context.folder.rates, { force: true });
    return { exitCode: (await publishLoaded(session)).exitCode, stopped: null };
  });
  context.print(`${former} → ${origin}: open crawls start over with the next run`, {
    moved,
    former: Object.fromEntries(bound),
  });
  return exitCode;
}

/** @throws UsageError for an invalid URL */
function readOrigin(url = '', key: ApiKey): string {
  const fault =
    url === ''
      ? { what: 'is missing', remedy: 'ledgerlake source move https://rpc.example.com' }
      : endpointFault(url);
  if (fault !== null) throw new UsageError(`the URL ${fault.what}`, `For example: ${fault.remedy}`);
  return key.sourceOf(url);
}

/** The interfaces that move, with their new source. @throws UsageError where it is not clear which */
function chooseMoved(
  { interface: name }: SourceArgs,
  bound: ReadonlyMap<string, string>,
  origin: string,
): Record<string, string> {
  if (name !== undefined && !bound.has(name))
    throw new UsageError(
      `--interface takes one that the folder is bound to, not "${name}"`,
      bound.size === 0
        ? `It is bound to none yet: ${interfaces.join(', ')}.`
        : `It is bound to ${[...bound.keys()].join(', ')}.`,
    );
  const main =
    name === undefined ? (bound.get('rpc') ?? (bound.size === 1 ? [...bound.values()][0] : undefined)) : null;
  if (main === undefined)
    throw new UsageError(
      'several interfaces are bound: choose the one to move',
      `Choose it: --interface ${[...bound.keys()].join(' or ')}.`,
    );
  const names =
    name === undefined
      ? [...bound].filter(([, origin]) => origin === main).map(([transport]) => transport)
      : [name];
  for (const transport of names) {
    if (bound.get(transport) === 'sandbox')
      throw new UsageError(
        'this folder holds sample data of the sandbox: it cannot move to another URL',
        'Name another folder with --data-dir.',
      );
    if (bound.get(transport) === origin)
      throw new UsageError(`${transport} is bound to ${origin} already`, 'There is nothing to do.');
  }
  return Object.fromEntries(names.map((transport) => [transport, origin]));
}
