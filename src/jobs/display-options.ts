import type { Problem } from '../config/yaml-file.ts';
import type { Job, ReadJob } from './job.ts';

/**
 * Refuses jobs that bring one table with different display options: each would overwrite, or take for gone, what the
 * other shows, and every run would look like a change. One that is left out differs from both `true` and `false`: its
 * default is the provider's. Display options are the `show…` parameters and members of `options`, except `showNfts`,
 * whose records are in no table.
 */
export function checkDisplayOptions(read: readonly ReadJob[]): Problem[] {
  const first = new Map<string, ReadJob>();
  const problems: Problem[] = [];
  for (const one of read) {
    const { job, yaml } = one;
    const other = first.get(job.operation.table)?.job;
    if (other === undefined) {
      first.set(job.operation.table, one);
      continue;
    }
    const [own, others] = [listShown(job), listShown(other)];
    const differing = [...new Set([...own.keys(), ...others.keys()])]
      .sort()
      .filter((path) => own.get(path) !== others.get(path));
    for (const path of differing)
      problems.push(
        yaml.problem(
          ['params', ...path.split('.')],
          `${valueText(own.get(path))}, but ${valueText(others.get(path))} in job ${other.name}, ` +
            `which brings the table ${job.operation.table} too; give both the same`,
        ),
      );
  }
  return problems;
}

/** Display options by their path below `params`. */
function listShown({ params }: Job): Map<string, unknown> {
  const { options } = params;
  const members = typeof options === 'object' && options !== null ? Object.entries(options) : [];
  return new Map(
    [
      ...Object.entries(params),
      ...members.map(([name, value]) => [`options.${name}`, value] as const),
    ].filter(([path]) => /(^|\.)show/.test(path) && path !== 'showNfts'),
  );
}

function valueText(value: unknown): string {
  return value === undefined ? 'left out' : JSON.stringify(value);
}
