import type { DataFolder } from '../data-folder.ts';
import { acceptOf } from '../publish/accepted.ts';
import type { Refusal } from '../publish/published.ts';
import { quoteForShell } from '../shell-words.ts';
import { type AuditFinding, describeFinding, isError } from '../warehouse/own-views.ts';
import { countOf, jobTitle } from '../words.ts';
import { oneLine } from './visible-text.ts';

/** A line for each refusal, and the command that lets pass what somebody may accept. Pure. @param what PUBLISHED or RELOADED */
export function refusalLines(
  refused: readonly Refusal[],
  folder: Pick<DataFolder, 'root'>,
  what = 'PUBLISHED',
): string[] {
  const lines = refused.map(({ job, target, targets, reason }) => {
    const name = target === '' || job.startsWith('_') ? jobTitle(job) : `${job}/${oneLine(target)}`;
    return `  NOT ${what} ${name}${targets > 1 ? ` (${countOf(targets, 'target')})` : ''}: ${oneLine(reason)}`;
  });
  const command = acceptCommand(refused, folder);
  return command === null ? lines : [...lines, `  it is kept as received; if it is right: ${command}`];
}

/** The command that publishes what was refused as it was received; null where nothing may be accepted. Pure. */
export function acceptCommand(
  refused: readonly Pick<Refusal, 'guard' | 'accept'>[],
  { root }: Pick<DataFolder, 'root'>,
): string | null {
  const options = refused.flatMap(({ guard, accept }) =>
    guard === null || accept === null ? [] : `--accept-${acceptOf(guard)} ${quoteForShell(accept)}`,
  );
  if (options.length === 0) return null;
  return `ledgerlake publish --data-dir ${quoteForShell(root)} ${[...new Set(options)].join(' ')}`;
}

/** A line for each audit of the project that returned rows, errors first, and what they kept back. Pure. */
export function auditLines(audits: readonly AuditFinding[]): string[] {
  const lines = [...audits.filter(isError), ...audits.filter((audit) => !isError(audit))].map(
    (finding) => `  ${oneLine(describeFinding(finding))}`,
  );
  if (!audits.some(isError)) return lines;
  return [
    ...lines,
    '  the snapshot stays as it was; what was received is kept. Once the audit passes, or says `-- severity: warn`: ledgerlake publish',
  ];
}
