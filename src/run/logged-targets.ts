import type { Database } from '../warehouse/database.ts';
import { appendRunLog, type RunEntry, readRunLog, type TargetsChange } from './run-log.ts';

/** A job as the run log has it. */
interface LoggedJob extends Pick<TargetsChange, 'file' | 'follows' | 'is_read'> {
  targets: Set<string>;
}

/** The jobs that have a file, and their targets, after all changes of the run log. Pure. */
export function listLogged(runs: readonly RunEntry[]): ReadonlyMap<string, LoggedJob> {
  const jobs = new Map<string, LoggedJob>();
  for (const { job, added = [], removed = [], ...fields } of runs.flatMap(({ targets = [] }) => targets)) {
    const { targets } = jobs.get(job) ?? { targets: new Set() };
    for (const target of removed) targets.delete(target);
    for (const target of added) targets.add(target);
    if (fields.file === undefined) jobs.delete(job);
    else jobs.set(job, { ...fields, targets });
  }
  return jobs;
}

/** Appends to the run log how `meta.jobs` and `meta.targets` differ from it: no text that was received tells them. */
export async function logTargets(build: Database, runLog: string, run: string): Promise<void> {
  const logged = listLogged(await readRunLog(runLog));
  await loadLogged(build, logged);
  const recorded = await build.rows<Required<Omit<TargetsChange, 'added' | 'removed'>>>('from meta.jobs');
  const differing = await build.rows<{ job: string; added: string[]; removed: string[] }>(
    `select
      job,
      coalesce(list(target order by target) filter (not is_logged), []) as added,
      coalesce(list(target order by target) filter (is_logged), []) as removed
    from (
      select *, false as is_logged from meta.targets anti join logged_target using (job, target)
      union all
      select *, true from logged_target anti join meta.targets using (job, target)
    )
    group by job`,
  );
  const moved = new Map(differing.map((one) => [one.job, one]));
  const isSame = (one: (typeof recorded)[number]) => {
    const { file, follows, is_read } = logged.get(one.job) ?? {};
    return file === one.file && follows === one.follows && is_read === one.is_read;
  };
  const changed = recorded
    .filter((one) => moved.has(one.job) || !isSame(one))
    .map((one) => ({ ...one, ...moved.get(one.job) }));
  const gone = [...logged.keys()].filter((job) => !recorded.some((one) => one.job === job));
  const targets = [...changed, ...gone.map((job) => ({ ...moved.get(job), job }))];
  if (targets.length > 0) await appendRunLog(runLog, { run, targets });
}

/** Fills the `meta.jobs` and `meta.targets` of a build that begins with nothing. */
export async function restoreTargets(build: Database, runs: readonly RunEntry[]): Promise<void> {
  if ((await build.rows('from meta.jobs limit 1')).length > 0) return;
  const logged = listLogged(runs);
  await loadLogged(build, logged);
  await build.transaction(async () => {
    for (const [job, { targets: _, ...fields }] of logged)
      await build.run('insert into meta.jobs values ($job, $file, $follows, $is_read)', { job, ...fields });
    await build.run('insert into meta.targets select job, target from logged_target');
  });
}

async function loadLogged(build: Database, logged: ReadonlyMap<string, LoggedJob>): Promise<void> {
  await build.run('create or replace temp table logged_target (job varchar, target varchar)');
  for (const [job, { targets }] of logged)
    await build.run('insert into logged_target select $job, unnest($targets::varchar[])', {
      job,
      targets: [...targets],
    });
}
