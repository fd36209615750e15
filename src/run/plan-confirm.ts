import { canonicalJson, type Job } from '../jobs/job.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { readSql } from '../sql-text.ts';
import type { PlannedStart } from './crawl-state.ts';
import { planStarts } from './plan-starts.ts';
import { readCrawlState } from './read-state.ts';
import type { Session } from './session.ts';

/**
 * What the built-in job `_confirm` has to ask: the rows of `meta.absent` that nobody asked about in the last hours. One target
 * a look-up operation and display options, which are those of the list that missed the row: without them an answer
 * leaves out what the list showed. A list of ids that an earlier run has frozen goes on first.
 */
export function planConfirm({ folder, run, withBuild }: Session): Promise<PlannedStart[]> {
  return withBuild(async (build) => {
    await build.run(readSql('publish/macros.sql'));
    const waiting = await build.rows<{ lookup: string; options: string | null; ids: string }>(
      `select lookup, options, to_json(list(distinct key order by key))::varchar as ids
      from (${readSql('publish/due.sql')}) group by all order by all`,
      { run, now: Date.now() },
    );
    if (waiting.length === 0) return [];
    const state = await readCrawlState(build, folder);
    return waiting.flatMap(({ lookup, options, ids }) => {
      const operation = findOperation(lookup) as Operation;
      const shown = options === null ? {} : { options: JSON.parse(options) as unknown };
      const name = options === null ? operation.table : canonicalJson({ ...shown, table: operation.table });
      return planStarts(
        confirmJob(operation, shown),
        [{ name, params: {} }],
        JSON.parse(ids) as string[],
        state,
        run,
      );
    });
  });
}

function confirmJob(operation: Operation, params: Job['params']): Job {
  return {
    name: '_confirm',
    file: '',
    describe: 'Looks up rows that left the lists',
    operation,
    params,
    forEach: null,
    ids: null,
    mode: 'full',
    fullEveryMs: null,
    after: [],
    since: null,
    overlapMs: null,
    pageSize: operation.limit ?? 1,
    partitions: 1,
    tags: [],
  };
}
