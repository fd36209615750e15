// Held by `tsc`: the library's types repeat those of the pipeline, so that its declarations import nothing else.
import { expectTypeOf, test } from 'vitest';
import type { JobResult, RunResult, TableResult } from '../../src/library-types.ts';
import type { MergeCounts } from '../../src/publish/merge-table.ts';
import type { RunReport } from '../../src/run/run-outcome.ts';
import type { JobProgress } from '../../src/run/run-state.ts';

test('what a job and a table of a run are described by is what the pipeline gives', () => {
  expectTypeOf<JobResult>().toEqualTypeOf<JobProgress>();
  expectTypeOf<TableResult>().toEqualTypeOf<MergeCounts>();
  expectTypeOf<keyof RunResult['published']>().toEqualTypeOf<keyof RunReport['published']>();
});
