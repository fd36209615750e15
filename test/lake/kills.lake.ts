import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { attachLake } from '../../src/export/catalog-export.ts';
import { describeCatalog } from '../../src/export/lake-catalog.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { createDataFolder } from '../support/data-folder-fixture.ts';
import { startProgram } from '../support/program.ts';
import { createRandom } from '../support/random.ts';
import { extensionDirectory } from './lake-fixture.ts';

const kills = 20;

const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_REGION = '' } = process.env;
const credentials = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION };

test('a reader that polls an Iceberg table while exports are killed sees one whole night, and no commit is lost', async () => {
  const folder = await createDataFolder();
  onTestFinished(() => folder.remove());
  const namespace = `kills_${process.pid}`;
  await writeFile(
    join(folder.root, 'ledgerlake.yaml'),
    `lake: {
      format: iceberg, endpoint: "${process.env.LAKE_S3}", force_path_style: true, tables: [token_accounts],
      extension_directory: "${extensionDirectory}",
      catalog: { endpoint: "${process.env.LAKE_CATALOG}", warehouse: lake, namespace: ${namespace} } }\n`,
  );
  const start = () => startProgram(['export', '--json'], { cwd: folder.root, env: credentials });
  const startedAt = Date.now();
  expect(await start().ended).toMatchObject({ code: 0, stderr: '' });
  const wholeMs = Date.now() - startedAt;
  const catalog = describeCatalog(
    {
      ...{ format: 'iceberg', lake: '', endpoint: process.env.LAKE_S3!, forcePathStyle: true },
      catalog: { uri: null, endpoint: process.env.LAKE_CATALOG!, warehouse: 'lake', namespace, auth: 'none' },
    },
    process.env,
  );
  const reader = await openDatabase(':memory:', {
    memoryLimit: '1GB',
    threads: 1,
    tempDir: join(folder.root, 'other'),
  });
  onTestFinished(() => reader.close());
  await attachLake(reader, catalog, extensionDirectory);
  const [errors, seen, state] = [[] as string[], new Set<string>(), { done: false, polls: 0 }];
  const poll = async () => {
    while (!state.done) {
      const [row] = await reader.rows<{ rows: bigint; nights: bigint; night: string }>(
        `select count(*) as rows, count(distinct delegated_amount) as nights, max(delegated_amount)::varchar as night
        from ${catalog.schema}token_accounts`,
      );
      // Every row of a night has its number, and each night has a row less than the one before.
      if (row!.nights > 1n || Number(row!.rows) + Number(row!.night ?? 0) !== 100)
        errors.push(JSON.stringify({ ...row, rows: `${row!.rows}`, nights: `${row!.nights}` }));
      seen.add(row!.night ?? '');
      state.polls += 1;
      await sleep(50);
    }
  };
  await folder.change('update token_accounts set delegated_amount = 0, record_hash = hash(address)');
  expect(await start().ended).toMatchObject({ code: 0, stderr: '' });
  const polling = poll();
  const random = createRandom(28);
  for (let n = 1; n <= kills; n += 1) {
    await folder.change(
      'delete from token_accounts where address = (select min(address) from token_accounts)',
    );
    await folder.change(
      `update token_accounts set delegated_amount = ${n}, record_hash = hash(address || ${n})`,
    );
    const night = start();
    await Promise.race([sleep((0.5 + 0.6 * random()) * wholeMs), night.ended]);
    night.child.kill('SIGKILL');
    await night.ended;
  }
  expect(await start().ended).toMatchObject({ code: 0, stderr: '' });
  state.done = true;
  await polling;
  const [last] = await reader.rows(`select count(*)::varchar as rows from ${catalog.schema}token_accounts`);
  expect({ errors, last }).toEqual({ errors: [], last: { rows: `${100 - kills}` } });
  console.log(`kills.lake.ts: ${kills} kills, ${state.polls} reads of ${seen.size} nights`);
});

test('doctor tries the catalog, and says when deletes have piled up and when it is not there', async () => {
  const folder = await createDataFolder();
  onTestFinished(() => folder.remove());
  const config = (endpoint: string) => `lake: {
      format: iceberg, endpoint: "${process.env.LAKE_S3}", force_path_style: true, tables: [token_accounts],
      extension_directory: "${extensionDirectory}",
      catalog: { endpoint: "${endpoint}", warehouse: lake, namespace: doctor_${process.pid} } }\n`;
  const file = join(folder.root, 'ledgerlake.yaml');
  const doctor = () => startProgram(['doctor'], { cwd: folder.root, env: credentials }).ended;
  await writeFile(file, config(process.env.LAKE_CATALOG!));
  for (let n = 0; n < 2; n += 1) {
    await folder.change(`update token_accounts set record_hash = hash(address || ${n}), amount = ${n}`);
    const env = { cwd: folder.root, env: credentials };
    expect(await startProgram(['export'], env).ended).toMatchObject({ code: 0 });
  }
  expect((await doctor()).stdout).toContain('deleted rows have piled up in token_accounts');
  await writeFile(file, config('http://127.0.0.1:9'));
  expect(await doctor()).toMatchObject({ code: 74, stdout: expect.stringContaining('was not exported to') });
});
