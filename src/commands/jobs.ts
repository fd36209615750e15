import type { Job, TargetSource } from '../jobs/job.ts';
import { readJobs } from '../jobs/job-file.ts';
import { findSameRequests, listQueries, type SameRequests } from '../jobs/job-set.ts';
import { checkQueries, checkTargets } from '../run/check-jobs.ts';
import { checkLake } from '../run/export-stage.ts';
import { confineToTables } from '../warehouse/job-sql.ts';
import { withEmptyTables } from '../warehouse/model.ts';
import { checkOwnSql } from '../warehouse/own-views.ts';
import { readUserSql, type UserSql } from '../warehouse/user-sql.ts';
import { countOf } from '../words.ts';
import { chooseFolder, createPrint, type GlobalArgs, openConfig } from './context.ts';
import { formatEntries, formatTable, type TextEntry, terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';

export const usage: Usage = {
  arguments: {
    '<action>': {
      describe:
        'check: read every job file, view and audit, and what the config says of the lake; sends no request',
      choices: ['check'],
    },
  },
  examples: {
    'ledgerlake jobs check': 'Every problem with its file and line, or the jobs in the order they run',
    'ledgerlake jobs check --jobs-dir my-jobs --json': 'Another folder, for a program',
  },
};

export async function execute(args: GlobalArgs): Promise<number> {
  const jobs = await readJobs(args.jobsDir);
  const targets = await checkTargets(jobs);
  const ownSql = (await readUserSql(args.jobsDir)) ?? { views: [], audits: [] };
  if (listQueries(jobs).length + ownSql.views.length + ownSql.audits.length > 0)
    await withEmptyTables(async (database) => {
      await confineToTables(database);
      await checkQueries(database, jobs);
      await checkOwnSql(database, ownSql.views, ownSql.audits);
    });
  const config = await openConfig(args, false);
  await checkLake({ config, folder: chooseFolder(args, config.environment), jobsDir: args.jobsDir });
  const rows = jobs.map((job) => [
    job.name,
    job.operation.name,
    job.mode,
    describeTargets(job),
    job.describe,
  ]);
  const columns = ['job', 'operation', 'mode', 'targets', 'what it brings'].map((name) => ({ name }));
  const same = findSameRequests(jobs, targets);
  const width = terminalWidth();
  const list = width === null ? formatTable(columns, rows) : formatEntries(rows.map(entryOf), width);
  const lines = [list, ...same.map(describeSame), countText(jobs.length, ownSql)];
  createPrint(args)(
    lines.join('\n'),
    jobs.map((job) => describeJob(job, same)),
  );
  return 0;
}

/** A job on a terminal, where a table may be too wide. */
function entryOf([name, operation, mode, targets, describe = '']: readonly string[]): TextEntry {
  return { head: `${name}: ${operation}, ${mode}, ${targets}`, text: describe };
}

function countText(jobs: number, { views, audits }: UserSql): string {
  const counts = [countOf(jobs, 'job')];
  if (views.length > 0) counts.push(countOf(views.length, 'view'));
  if (audits.length > 0) counts.push(countOf(audits.length, 'audit'));
  return `${counts.join(', ')}, no problems`;
}

function describeSame({ jobs: [first, second], targets, once }: SameRequests): string {
  const of = `${targets} ${targets === 1 ? 'target' : 'targets'}`;
  const how = once ? 'requested once a run' : 'requested twice, because one comes after the other';
  return `${first} and ${second} request the same of ${of}: ${how}`;
}

function describeJob(job: Job, same: readonly SameRequests[]) {
  const { name, file, describe, operation, mode, after, forEach, tags } = job;
  return {
    name,
    file,
    describe,
    operation: operation.name,
    mode,
    after,
    tags,
    same: same.filter(({ jobs }) => jobs.includes(name)),
    targets: forEach === null && job.ids === null ? null : describeTargets(job),
  };
}

/** Where a job's targets come from, in a few words. */
function describeTargets({ forEach, ids }: Job): string {
  if (ids !== null) return `${ids.length} ${ids.length === 1 ? 'id' : 'ids'} in params`;
  return forEach === null ? 'one' : describeSource(forEach);
}

function describeSource(source: TargetSource): string {
  const params = source.params.length === 0 ? '' : `${source.params.join(', ')} from `;
  if (source.kind === 'file') return `${params}${source.path}`;
  if (source.kind === 'sql') return `${params}SQL`;
  return `${params}${source.values.length} ${source.values.length === 1 ? 'value' : 'values'}`;
}
