import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const home = resolve('.lake-tests');

/** Starts an object store (moto) and Iceberg's reference catalog for all tests of the lake. */
export default async function startServers(): Promise<() => void> {
  const children: ChildProcess[] = [];
  const [s3, catalog] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' };
  Object.assign(process.env, credentials, {
    ...{ LAKE_S3: s3, LAKE_CATALOG: catalog, LAKE_EXTENSIONS: join(home, 'extensions') },
    LAKE_PYTHON: join(home, 'python/bin/python'),
  });
  const start = (command: string, args: string[], env = {}) =>
    children.push(spawn(command, args, { env: { ...process.env, ...env }, stdio: 'ignore' }));
  start(join(home, 'python/bin/moto_server'), ['-H', '127.0.0.1', '-p', new URL(s3).port]);
  await until(() => fetch(`${s3}/lake`, { method: 'PUT' }));
  const folder = mkdtempSync(join(tmpdir(), 'lake-catalog-'));
  start('java', ['-Xmx512m', '-jar', join(home, 'iceberg-open-api-1.10.0.jar')], {
    CATALOG_WAREHOUSE: 's3://lake/warehouse',
    CATALOG_URI: `jdbc:sqlite:${join(folder, 'catalog.db')}`,
    CATALOG_CATALOG__IMPL: 'org.apache.iceberg.jdbc.JdbcCatalog',
    CATALOG_IO__IMPL: 'org.apache.iceberg.aws.s3.S3FileIO',
    CATALOG_S3_ENDPOINT: s3,
    CATALOG_S3_PATH__STYLE__ACCESS: 'true',
    CATALOG_REST_PORT: new URL(catalog).port,
  });
  await until(() => fetch(`${catalog}/v1/config`));
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
}

async function until(ask: () => Promise<Response>): Promise<void> {
  for (let tries = 0; tries < 240; tries += 1) {
    if (
      await ask().then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await sleep(250);
  }
  throw new Error('a server of test/lake did not start');
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
