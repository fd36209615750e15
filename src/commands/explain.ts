import { tmpdir } from 'node:os';
import { explainRow } from '../status/explain-row.ts';
import type { Explanation, RowAnswer } from '../status/explanation.ts';
import type { RowVersion } from '../status/row-versions.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import type { Usage } from './usage.ts';
import { oneLine } from './visible-text.ts';

interface ExplainArgs extends GlobalArgs {
  table: string;
  key: string[];
  all: boolean;
}

/** Arguments and options of `ledgerlake explain`. */
export const usage: Usage = {
  arguments: {
    '<table>': 'Table of the row',
    '<key...>': 'Values of its key columns, in the order of `ledgerlake tables <table>`',
  },
  options: { '--all': 'Look for the answers behind former versions, too' },
  examples: {
    'ledgerlake explain assets <id>': 'Which answers wrote which groups of an asset, with their own text',
    'ledgerlake explain wallet_balances <wallet> <mint> --json': 'A key of two columns, for a program',
  },
  notes:
    'Reads the snapshot, the archive and the landing log; takes no lock. Says so where a page is not kept any more.',
};

/** `ledgerlake explain <table> <key>`: where a row comes from, and why it is as it is. */
export async function execute(args: ExplainArgs): Promise<number> {
  const { config, folder, print } = await openContext(args, { asks: false });
  const { memoryLimit, threads } = config.warehouse;
  const explanation = await untilStopped((signal) =>
    explainRow(folder, args.table, args.key, args.all, { memoryLimit, threads, tempDir: tmpdir(), signal }),
  );
  print(explainText(explanation, args.all), explanation);
  return 0;
}

/** Columns about a row's origin, not its content. */
const bookkeeping =
  /^(slot|seen_at|first_seen_slot|changed_slot|changed_at|run_id|record_hash|\w+_hash|\w+_slot|\w+_seen_at|\w+_extra)$/;

/** Versions shown without `--all`. */
const maxVersions = 10;

/** The explanation as text. Pure. */
export function explainText(explanation: Explanation, all: boolean): string {
  const { table, key, state, versions, answers, reasons, quarantine } = explanation;
  const [newest] = versions;
  const keyText = Object.values(key).join(' ');
  return [
    `${table} ${keyText}: ${state}`,
    '',
    ...reasons.map((reason) => `  ${reason}`),
    ...(newest === undefined ? [] : ['', 'row', ...rowLines(newest, Object.keys(key))]),
    ...(answers.length === 0 ? [] : ['', 'answers', ...answers.flatMap(answerLines)]),
    ...(quarantine.length === 0
      ? []
      : [
          '',
          'quarantine',
          ...quarantine.map(
            ({ id, column, reason, raw }) => `  ${id}  ${column ?? 'whole record'}: ${reason}: ${raw ?? ''}`,
          ),
        ]),
    ...versionLines(versions, all),
  ]
    .map(oneLine)
    .join('\n');
}

function rowLines({ values }: RowVersion, key: readonly string[]): string[] {
  const filled = Object.entries(values).filter(
    ([column, value]) => value !== null && (key.includes(column) || !bookkeeping.test(column)),
  );
  const width = Math.max(0, ...filled.map(([column]) => column.length));
  return filled.map(([column, value]) => `  ${column.padEnd(width)}  ${value}`);
}

function answerLines({ of, received_at, page }: RowAnswer): string[] {
  const head = `  ${received_at}: ${of.join(', ')}`;
  if (page === null) return [`${head}: the page is not kept any more`];
  const { run, job, target, operation, request, slot, segment, kept, record, carries, text, ...rest } = page;
  const jobTarget = `${job}${target === '' ? '' : `/${target}`}`;
  return [
    head,
    `    run ${run}, job ${jobTarget}, page ${rest.page}, record ${record}, slot ${slot ?? 'none'}`,
    `    ${operation} ${JSON.stringify(request)}`,
    `    in segment ${segment} of the ${kept === 'archive' ? 'archive' : 'landing log'}; carries ${carries.join(', ')}`,
    `    ${text}`,
  ];
}

function versionLines(versions: readonly RowVersion[], all: boolean): string[] {
  if (versions.length < 2) return [];
  const shown = all ? versions : versions.slice(0, maxVersions);
  const lines = shown.map((version, n) => {
    const { valid_from, valid_to, valid_from_slot, valid_to_slot, run_id } = version;
    const slots = valid_from_slot === null ? '' : `, slots ${valid_from_slot} to ${valid_to_slot ?? 'now'}`;
    const changes = changesOf(version, versions[n + 1]);
    return `  ${valid_from} to ${valid_to ?? 'now'}${slots} (run ${run_id}): ${changes}`;
  });
  const hidden = versions.length - shown.length;
  return ['', 'versions', ...lines, ...(hidden > 0 ? [`  … ${hidden} more: --all`] : [])];
}

/** What a version changed of the one before it. Pure. */
export function changesOf(version: RowVersion, before: RowVersion | undefined): string {
  if (before === undefined) return 'first seen';
  const changes = Object.entries(version.values).flatMap(([column, value]) => {
    const former = before.values[column] ?? null;
    if (value === former || bookkeeping.test(column)) return [];
    return `${column} ${short(former)} → ${short(value)}`;
  });
  return changes.length === 0 ? 'as before' : changes.join(', ');
}

function short(value: string | null): string {
  if (value === null) return 'NULL';
  return value.length > 60 ? `${value.slice(0, 59)}…` : value;
}
