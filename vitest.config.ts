import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongFilesFirst from './test/long-files-first.ts';

/** Tests of what a module remembers, or with a module of their own making in its place. */
const alone = [
  'test/unit/landing/record-forms.test.ts',
  'test/unit/load/record-forms.test.ts',
  'test/unit/report/trace-failure.test.ts',
  'test/unit/warehouse/run-lock.test.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['test/temp-folder.ts', 'test/build-once.ts'],
    setupFiles: ['test/fixed-seed.ts'],
    // They take seconds, and minutes where the machine does something else. One that ran out of time would go on in the
    // background, beside the tests after it.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongFilesFirst },
    projects: [
      // Loading every module anew for each of 130 files would take a minute and a half.
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: alone, isolate: false },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
