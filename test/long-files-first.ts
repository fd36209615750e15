import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The order of the test files: those that have bars (test/bars.ts), ask for more time or start the program first. They take
 * minutes, some of it waiting for retries, which at the end of a run nothing else would fill. Vitest alone begins with the largest files
 * where it knows no durations.
 */
export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/bars\.ts'|timeout: |openTinyWorld|startProgram/i.test(readFileSync(moduleId, 'utf8')) ? 1 : 0;
    return (await super.sort(files)).sort((a, b) => isLong(b) - isLong(a));
  }
}
