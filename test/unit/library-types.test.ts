// Held by `tsc`: the library's types import nothing, so its declarations are complete by themselves.
import { expectTypeOf, test } from 'vitest';
import type { RunResult } from '../../src/library-types.ts';
import type { RunReport } from '../../src/run/run-outcome.ts';

test('what a run published has the members that the pipeline reports', () => {
  expectTypeOf<keyof RunResult['published']>().toEqualTypeOf<keyof RunReport['published']>();
});
