import { createHash } from 'node:crypto';
import type { Job } from '../jobs/job.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { readResets } from './reset-state.ts';
import type { RunEntry } from './run-log.ts';

/** Targets of a job that brought rows and are no longer requested, because a target file is shorter or the job file is gone. */
export interface Dropped {
  job: string;
  targets: readonly string[];
  /** What `--accept` takes: a hash of the job and these targets. */
  id: string;
}

/**
 * Lists the targets that jobs have dropped, without those accepted or reset since.
 * @param jobs the jobs of the run or project, of which those with targets from SQL are left out; null: every job
 */
export async function listDropped(
  database: Database,
  runs: readonly RunEntry[],
  jobs: readonly Job[] | null,
): Promise<Dropped[]> {
  const listed = jobs?.flatMap(({ name, forEach }) => (forEach?.kind === 'sql' ? [] : name)) ?? null;
  const rows = await database.rows<{ job: string; target: string; crawl: string }>(
    readSql('follow/dropped.sql'),
    { listed },
  );
  const isAccepted = readResets(runs);
  const rowsOf = new Map<string, typeof rows>();
  for (const row of rows)
    if (!isAccepted(row, row.crawl)) rowsOf.set(row.job, [...(rowsOf.get(row.job) ?? []), row]);
  return [...rowsOf].map(([job, dropped]) => {
    // With their last crawls: targets that came back and are dropped again have another id.
    const shown = createHash('sha256').update(JSON.stringify(dropped));
    return { job, targets: dropped.map(({ target }) => target), id: `d${shown.digest('hex').slice(0, 8)}` };
  });
}

/** Describes dropped targets, with up to three names. Pure. */
export function describeDropped({ targets }: Dropped): string {
  const examples = targets.filter((target) => target !== '').slice(0, 3);
  const names = examples.length === 0 ? '' : `: ${examples.join(', ')}${targets.length > 3 ? ', …' : ''}`;
  const what = targets.length === 1 ? '1 target with rows is' : `${targets.length} targets with rows are`;
  return `${what} not requested any more${names}`;
}
