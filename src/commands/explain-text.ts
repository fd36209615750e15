import type { Explanation, RowAnswer } from '../status/explanation.ts';
import type { RowVersion } from '../status/row-versions.ts';
import { oneLine } from './visible-text.ts';

/** Columns that say when something came, not what it says. */
const bookkeeping =
  /^(slot|seen_at|first_seen_slot|changed_slot|changed_at|run_id|record_hash|\w+_hash|\w+_slot|\w+_seen_at|\w+_extra)$/;

/** Most former versions that are shown without `--all`. */
const mostVersions = 10;

/** What a person reads of a row. Pure. */
export function explainText(explanation: Explanation, all: boolean): string {
  const { table, key, state, versions, answers, reasons, quarantine } = explanation;
  const [newest] = versions;
  const named = Object.values(key).join(' ');
  return [
    `${table} ${named}: ${state}`,
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
  const place = `${job}${target === '' ? '' : `/${target}`}`;
  return [
    head,
    `    run ${run}, job ${place}, page ${rest.page}, record ${record}, slot ${slot ?? 'none'}`,
    `    ${operation} ${JSON.stringify(request)}`,
    `    in segment ${segment} of the ${kept === 'archive' ? 'archive' : 'landing log'}; carries ${carries.join(', ')}`,
    `    ${text}`,
  ];
}

function versionLines(versions: readonly RowVersion[], all: boolean): string[] {
  if (versions.length < 2) return [];
  const shown = all ? versions : versions.slice(0, mostVersions);
  const lines = shown.map((version, n) => {
    const { valid_from, valid_to, valid_from_slot, valid_to_slot, run_id } = version;
    const slots = valid_from_slot === null ? '' : `, slots ${valid_from_slot} to ${valid_to_slot ?? 'now'}`;
    const changes = changesOf(version, versions[n + 1]);
    return `  ${valid_from} to ${valid_to ?? 'now'}${slots} (run ${run_id}): ${changes}`;
  });
  const left = versions.length - shown.length;
  return ['', 'versions', ...lines, ...(left > 0 ? [`  … ${left} more: --all`] : [])];
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
