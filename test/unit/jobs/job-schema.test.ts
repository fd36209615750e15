import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { readJobs } from '../../../src/jobs/job-file.ts';
import { jobSchemaText } from '../../../src/jobs/job-schema.ts';
import { resolveIds, resolveTargets } from '../../../src/jobs/targets.ts';
import { createStatement, listTableColumns } from '../../../src/model/table-ddl.ts';
import { readTableModels } from '../../../src/model/table-model.ts';
import { createWorld } from '../../../src/sandbox/world.ts';

const jobsDir = fileURLToPath(new URL('../../../jobs', import.meta.url));
const examplesDir = fileURLToPath(new URL('../../../docs/examples/jobs', import.meta.url));

test('job.schema.json is what the code says, beside the examples too: else run `npm run schema`', () => {
  for (const dir of [jobsDir, examplesDir])
    expect(readFileSync(`${dir}/job.schema.json`, 'utf8')).toBe(jobSchemaText());
});

test('an example copied beside other jobs still names their schema', () => {
  const files = readdirSync(examplesDir).filter((name) => name.endsWith('.yaml'));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files)
    expect(readFileSync(`${examplesDir}/${file}`, 'utf8').split('\n')[0], file).toBe(
      '# yaml-language-server: $schema=./job.schema.json',
    );
});

test('the job files that come with the program are valid, in the order they wait for each other', async () => {
  const jobs = await readJobs(jobsDir);
  expect(jobs.map(({ name, operation }) => [name, operation.name])).toEqual([
    ['collections', 'getAssetsByGroup'],
    ['compression-signatures', 'getLatestCompressionSignatures'],
    ['creators', 'getAssetsByCreator'],
    ['asset-content', 'getAssetBatch'],
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

test('their SQL gives targets on the real tables', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const assets = readTableModels().find(({ name }) => name === 'assets')!;
  await connection.run(createStatement(assets, listTableColumns(assets)));
  const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
  await connection.run(`
    insert into assets (id, owner, content_slot, content_seen_at, seen_at, run_id, record_hash) values
      ('${ids[2]}', '${ids[1]}', null, null, now(), 'r', 0),
      ('${ids[0]}', '${ids[1]}', null, null, now(), 'r', 0),
      ('${ids[1]}', null, 7, now(), now(), 'r', 0)`);
  const query = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJS();
  const [content, tokens] = await readJobs(jobsDir, ['asset-content', 'token-owners']);
  expect(await resolveIds(content!, query)).toEqual([ids[0], ids[2]]);
  expect(await resolveTargets(tokens!, query)).toEqual([{ name: ids[1], params: { owner: ids[1] } }]);
  connection.closeSync();
  instance.closeSync();
});
