import { defineConfig } from 'vitest/config';
import LongFilesFirst from './test/long-files-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/build-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: a second worker only steals time from the child processes the tests start.
    maxWorkers: 2,
    sequence: { sequencer: LongFilesFirst },
  },
});
