import { defineConfig } from 'vitest/config';

/** `make test-lake`: what other engines find in the lake. */
export default defineConfig({
  test: {
    include: ['test/lake/*.lake.ts'],
    globalSetup: ['test/temp-folder.ts', 'test/build-once.ts', 'test/lake/servers.ts'],
    setupFiles: ['test/fixed-seed.ts'],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
