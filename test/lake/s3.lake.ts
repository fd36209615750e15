import { createServer, request } from 'node:http';
import { GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import type { Manifest } from '../../src/export/lake-manifest.ts';
import { createFixture, insertTokenAccounts } from '../support/export-fixture.ts';
import { python } from './lake-fixture.ts';

let count = 0;

async function createS3Fixture() {
  const fixture = await createFixture();
  count += 1;
  const lake = `s3://lake/parquet-${process.pid}-${count}`;
  const settings = { lake, endpoint: process.env.LAKE_S3!, forcePathStyle: true, tables: ['token_accounts'] };
  return {
    ...fixture,
    settings,
    night: (options = {}) => fixture.export({ ...settings, ...options }),
    readManifest: async () => {
      const found = await readObject(`${lake}/_manifests/token_accounts.json`);
      return JSON.parse(found!) as Manifest;
    },
  };
}

/** Null for an object that is not there. */
async function readObject(uri: string): Promise<string | null> {
  const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.*)$/.exec(uri)!;
  const client = new S3Client({ endpoint: process.env.LAKE_S3!, forcePathStyle: true, region: 'us-east-1' });
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return (await Body?.transformToString()) ?? '';
  } catch (error) {
    if (error instanceof NoSuchKey) return null;
    throw error;
  }
}

test('the manifest in a bucket names whole sets, which pandas reads; a night without changes uploads nothing', async () => {
  const fixture = await createS3Fixture();
  await fixture.change(insertTokenAccounts(0, 200_000));
  expect(await fixture.night({ fileBytes: 1_000_000 })).toMatchObject([{ rows: 200_000, written: true }]);
  const { files, export_id: first, sums } = await fixture.readManifest();
  expect(files.length).toBeGreaterThan(1);
  expect(await fixture.night({ fileBytes: 1_000_000 })).toMatchObject([{ written: false }]);
  const read = await python(
    `
import json, sys, pandas as pd
storage = {'key': 'test', 'secret': 'test', 'client_kwargs': {'endpoint_url': sys.argv[1]}}
import pyarrow.fs as fs, pyarrow.parquet as pq
host = sys.argv[1].removeprefix('http://')
s3 = fs.S3FileSystem(access_key='test', secret_key='test', endpoint_override=host, scheme='http')
m = json.loads(s3.open_input_file(sys.argv[2] + '/_manifests/token_accounts.json').read())
d = pd.concat(pq.read_table(sys.argv[2] + '/' + f['path'], filesystem=s3, partitioning=None).to_pandas() for f in m['files'])
print(json.dumps({'rows': len(d), 'amount': str(sum(int(x) for x in d['amount']))}))`,
    process.env.LAKE_S3!,
    fixture.settings.lake.slice('s3://'.length),
  );
  expect(read).toEqual({ rows: 200_000, amount: sums.amount });
  await fixture.change("update token_accounts set amount = 7 where address = 'address-7'");
  await fixture.night({ keep: 1 });
  expect((await fixture.readManifest()).export_id > first).toBe(true);
  expect(await readObject(`${fixture.settings.lake}/${files[0]!.path}`)).toBeNull();
});

test('of two exports at once one wins, the other ends with 74; another data folder is refused', async () => {
  const fixture = await createS3Fixture();
  await fixture.change(insertTokenAccounts(0, 100));
  await fixture.night();
  await fixture.change(insertTokenAccounts(100, 110));
  const ended = await Promise.allSettled([
    fixture.night({ tempDir: `${fixture.root}/a` }),
    fixture.night({ tempDir: `${fixture.root}/b` }),
  ]);
  const refused = ended.filter(({ status }) => status === 'rejected');
  for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toMatchObject({ exitCode: 74 });
  expect(refused.length).toBeLessThan(2);
  expect(await fixture.readManifest()).toMatchObject({ rows: 110 });
  const other = await createS3Fixture();
  await other.change(insertTokenAccounts(0, 5));
  await expect(other.night({ lake: fixture.settings.lake })).rejects.toMatchObject({ exitCode: 2 });
  await expect(other.check(fixture.settings)).rejects.toMatchObject({ exitCode: 2 });
});

test('a bucket that answers 503 now and then is waited for; one that is gone ends with 74, and the former export stays', async () => {
  const fixture = await createS3Fixture();
  await fixture.change(insertTokenAccounts(0, 1000));
  await fixture.night();
  const before = await fixture.readManifest();
  let [asked, gone] = [0, false];
  const proxy = createServer((incoming, answer) => {
    asked += 1;
    if (gone || asked % 3 === 0) return void answer.writeHead(503).end();
    const url = new URL(incoming.url!, process.env.LAKE_S3);
    const forwarded = request(url, { method: incoming.method, headers: incoming.headers }, (from) => {
      answer.writeHead(from.statusCode!, from.headers);
      from.pipe(answer);
    });
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await new Promise((done) => proxy.once('listening', done));
  const endpoint = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
  await fixture.change(insertTokenAccounts(1000, 1010));
  gone = true;
  await expect(fixture.night({ endpoint })).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringContaining('(HTTP 503)'),
    hint: expect.stringContaining('The tables are published'),
  });
  expect(await fixture.readManifest()).toEqual(before);
  gone = false;
  expect(await fixture.night({ endpoint })).toMatchObject([{ rows: 1010, written: true }]);
  expect(await fixture.readManifest()).toMatchObject({ rows: 1010 });
});
