import type { Problem, YamlFile } from '../config/yaml-file.ts';
import { describeIssue } from '../config/yaml-issues.ts';
import type { Operation } from '../operations/operation.ts';
import type { Job, ReadJob, TargetSource } from './job.ts';

/**
 * Checks `params` and `for_each` together against the operation: each parameter known and well formed, every
 * required one given exactly once. What the columns of `for_each: {sql: …}` fill is known only when it has run,
 * so missing ones are left to resolveTargets there.
 */
export function checkParams(
  yaml: YamlFile,
  operation: Operation,
  params: Record<string, unknown>,
  source: TargetSource | null,
): Problem[] {
  const filled = source?.params ?? [];
  const columnsDecide = source !== null && filled.length === 0;
  const problems: Problem[] = [];
  for (const name of source === null ? [] : new Set([...filled, ...batchNames(operation)])) {
    if (!Object.hasOwn(params, name)) continue;
    const message = `filled by for_each${filled.includes(name) ? ' too' : ''}; leave it out of params`;
    problems.push(yaml.problem(['params', name], message));
  }
  const parsed = operation.params.safeParse(params);
  for (const issue of parsed.error?.issues ?? []) {
    const [name] = issue.path;
    if (name !== undefined && isFilled(String(name), operation, params, source)) continue;
    const missing = name !== undefined && issue.path.length === 1 && !Object.hasOwn(params, name);
    if (missing && columnsDecide) continue;
    problems.push(
      ...describeIssue(issue, operation.params, params).map(({ path, message }) =>
        yaml.problem(['params', ...path], missing ? `${message}; give it in params or for_each` : message),
      ),
    );
  }
  if (!columnsDecide && filled.every((name) => Object.hasOwn(operation.params.shape, name)))
    problems.push(...checkChoice(yaml, operation, params, filled));
  return problems;
}

/** Whether a parameter's value is not the file's to give. What a batch operation lacks, `checkSource` tells. */
function isFilled(
  name: string,
  operation: Operation,
  params: Record<string, unknown>,
  source: TargetSource | null,
): boolean {
  if (source?.params.includes(name)) return true;
  return batchNames(operation).includes(name) && (source !== null || !Object.hasOwn(params, name));
}

/** Whether the parameters of which one is needed are given, and where only one may be, only one. */
function checkChoice(
  yaml: YamlFile,
  operation: Operation,
  params: Record<string, unknown>,
  filled: readonly string[],
): Problem[] {
  const { name, anyOf, onlyOne = false } = operation;
  if (anyOf === undefined) return [];
  const said = Object.keys(params).filter((param) => params[param] !== null);
  const given = anyOf.filter((param) => [...said, ...filled, ...batchNames(operation)].includes(param));
  const wanted = anyOf.join(', ');
  if (given.length === 0)
    return [yaml.problem(['params'], `${name} needs at least one of ${wanted}, in params or for_each`)];
  if (onlyOne && given.length > 1)
    return [yaml.problem(['params'], `${name} takes only one of ${wanted}, in params or for_each`)];
  return [];
}

function batchNames(operation: Operation): string[] {
  return operation.batchParam === undefined ? [] : [operation.batchParam];
}

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
