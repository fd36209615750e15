import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readJobs } from '../../src/jobs/job-file.ts';
import { jobSchemaText } from '../../src/jobs/job-schema.ts';
import { resolveTargets } from '../../src/jobs/targets.ts';
import { createWorld } from '../../src/sandbox/world.ts';

const jobsDir = fileURLToPath(new URL('../../jobs', import.meta.url));

test('jobs/job.schema.json is what the code says: else run `npx tsx scripts/write-job-schema.ts`', () => {
  expect(readFileSync(`${jobsDir}/job.schema.json`, 'utf8')).toBe(jobSchemaText());
});

test('the job files that come with the program are valid, in the order they wait for each other', async () => {
  const jobs = await readJobs(jobsDir);
  expect(jobs.map(({ name, operation }) => [name, operation.name])).toEqual([
    ['collections', 'getAssetsByGroup'],
    ['creators', 'getAssetsByCreator'],
    ['asset-content', 'getAssetBatch'],
    ['compression-signatures', 'getLatestCompressionSignatures'],
    ['token-owners', 'getTokenAccounts'],
  ]);
  for (const { file } of jobs) {
    expect(readFileSync(file, 'utf8').split('\n')[0]).toBe(
      '# yaml-language-server: $schema=./job.schema.json',
    );
  }
});

test("their targets are the sample API's own", async () => {
  const jobs = await readJobs(jobsDir, ['collections', 'creators']);
  const names = await Promise.all(
    jobs.map(async (job) => (await resolveTargets(job, async () => [])).map(({ name }) => name)),
  );
  const truth = createWorld().truth();
  expect(names).toEqual([truth.collections(), truth.creators()]);
});
