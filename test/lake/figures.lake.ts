import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { type CatalogFixture, createCatalogFixture } from './lake-fixture.ts';

const rows = Number(process.env.LAKE_ROWS ?? 300_000);

const accounts = `insert into token_accounts by name
  select md5(i::varchar) || md5((i + 1)::varchar) as address, md5((i % 1000)::varchar) || 'mint' as mint, md5((i % 90000)::varchar) || 'owner' as owner,
    (hash(i) >> 20)::ubigint as amount, false as frozen, 300000000 + i as slot, timestamptz '2026-01-01' as seen_at, seen_at as changed_at,
    'run' as run_id, hash(i) as record_hash
  from range(${rows}) r(i)`;

function bytesOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function bytesInBucket(prefix: string): Promise<number> {
  const client = new S3Client({ endpoint: process.env.LAKE_S3!, forcePathStyle: true, region: 'us-east-1' });
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'lake', Prefix: prefix }));
  return Contents.filter(({ Key = '' }) => Key.endsWith('.parquet')).reduce(
    (sum, { Size = 0 }) => sum + Size,
    0,
  );
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Number(((performance.now() - startedAt) / 1000).toFixed(1));
}

for (const format of ['ducklake', 'iceberg'] as const) {
  test(`${format}: a night with 1 % changed writes about 1 % of the first`, async () => {
    const fixture: CatalogFixture = await createCatalogFixture(format);
    const measure = () =>
      format === 'ducklake'
        ? Promise.resolve(bytesOf(join(fixture.lake, fixture.namespace)))
        : bytesInBucket(`warehouse/${fixture.namespace}/`);
    await fixture.change(accounts);
    const options = { tables: ['token_accounts'] };
    const firstS = await secondsOf(() => fixture.night(options));
    const first = await measure();
    await fixture.change(
      `update token_accounts set owner = 'another', amount = amount + 1, record_hash = hash(record_hash), changed_slot = 2 where hash(address) % 100 = 0`,
      'update token_accounts set slot = slot + 1, seen_at = now()',
    );
    let changed = 0;
    const nightS = await secondsOf(async () => {
      changed = (await fixture.night(options))[0]!.changed!;
    });
    const night = (await measure()) - first;
    const quietS = await secondsOf(() => fixture.night(options));
    const [copy, parquet] = [join(fixture.root, 'copy.parquet'), join(fixture.root, 'parquet')];
    const copyS = await secondsOf(() =>
      fixture.query(`copy token_accounts to '${copy}' (format parquet, compression zstd)`),
    );
    const parquetS = await secondsOf(() =>
      fixture.export({
        ...options,
        lake: parquet,
        owner: { idFile: join(fixture.root, 'id'), isInside: false },
      }),
    );
    console.log(
      JSON.stringify({
        format,
        rows,
        changed,
        first,
        night,
        share: night / first,
        firstS,
        nightS,
        quietS,
        copyS,
        parquetS,
      }),
    );
    expect(night / first).toBeLessThanOrEqual(0.02);
  });
}
