import type { Problem } from '../yaml-file.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Job, ReadJob } from './job-file.ts';

/**
 * Refuses jobs that bring one table with different display options: each would overwrite what the other shows,
 * and every run would look like a change. Display options are the `show…` members of `options`, except
 * `showZeroBalance`, which chooses rows and not what they hold.
 */
export function checkDisplayOptions(read: readonly ReadJob[]): Problem[] {
  const first = new Map<string, ReadJob>();
  const problems: Problem[] = [];
  for (const one of read) {
    const { job, yaml } = one;
    const other = first.get(job.operation.table)?.job;
    if (other === undefined) first.set(job.operation.table, one);
    else if (displayText(other) !== displayText(job)) {
      problems.push(
        yaml.problem(
          ['params', 'options'],
          `display options ${displayText(job)} differ from ${displayText(other)} of job ${other.name}, ` +
            `which brings the table ${job.operation.table} too; give both the same`,
        ),
      );
    }
  }
  return problems;
}

function displayText(job: Job): string {
  const options = job.params.options;
  const shown = Object.entries(typeof options === 'object' && options !== null ? options : {}).filter(
    ([name]) => name.startsWith('show') && name !== 'showZeroBalance',
  );
  return canonicalJson(Object.fromEntries(shown));
}
