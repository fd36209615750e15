import { basename, dirname, join, resolve } from 'node:path';
import type { Job } from '../jobs/job.ts';
import type { Target } from '../jobs/targets.ts';
import { exists } from '../landing/segment-files.ts';
import { operationsOf } from '../publish/follow-rows.ts';
import type { Database } from '../warehouse/database.ts';

/** A job, and the targets that it has now. */
export interface ReadTargets {
  job: Job;
  targets: readonly Target[];
}

/**
 * Notes in the build which targets jobs have now (`meta.targets`), and forgets the jobs whose files are gone. Jobs that a run
 * did not read keep those that their last run found. What is as it was is not written again.
 */
export async function noteTargets(build: Database, all: readonly ReadTargets[]): Promise<void> {
  // Built-in jobs have no file, and follow nothing.
  const read = all.filter(({ job }) => job.file !== '');
  const [first] = read;
  if (first === undefined) return;
  const dir = dirname(resolve(first.job.file));
  const known = await build.rows<{ job: string; file: string }>('select job, file from meta.jobs');
  const isThere = async (file: string) => (await exists(file)) || (await exists(join(dir, basename(file))));
  const gone: string[] = [];
  for (const { job, file } of known) if (!(await isThere(file))) gone.push(job);
  // Of a folder of an older version: their targets are known when they are crawled again.
  const crawled = await build.rows<{ job: string }>(
    `select distinct job from meta.checkpoints where job not in (select job from meta.jobs)`,
  );
  const unread: string[] = [];
  for (const { job } of crawled) if (await exists(join(dir, `${job}.yaml`))) unread.push(job);
  await build.transaction(async () => {
    for (const table of ['jobs', 'targets'])
      await build.run(`delete from meta.${table} where job in (select unnest($gone::varchar[]))`, { gone });
    for (const job of unread)
      await build.run('insert into meta.jobs values ($job, $file, false, false)', {
        job,
        file: join(dir, `${job}.yaml`),
      });
    for (const one of read) await noteJob(build, one);
  });
}

async function noteJob(build: Database, { job, targets }: ReadTargets): Promise<void> {
  const follows = operationsOf().includes(job.operation.name);
  const entry = { job: job.name, file: resolve(job.file), follows };
  await build.run(
    'delete from meta.jobs where job = $job and (file <> $file or follows <> $follows or not is_read)',
    entry,
  );
  await build.run(
    `insert into meta.jobs select $job, $file, $follows, true
    where not exists (from meta.jobs where job = $job)`,
    entry,
  );
  await build.run(
    'create or replace temp table read_target as select unnest($targets::varchar[]) as target',
    {
      targets: targets.map(({ name }) => name),
    },
  );
  await build.run(
    'delete from meta.targets where job = $job and target not in (select target from read_target)',
    { job: job.name },
  );
  await build.run(
    `insert into meta.targets select $job, target from read_target
    where target not in (select target from meta.targets where job = $job)`,
    { job: job.name },
  );
}
