import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defaultKeyPlaces } from '../../../src/api/key-place.ts';
import { readConfig } from '../../../src/config/config.ts';
import { configSchemaText } from '../../../src/config/config-schema.ts';
import { UsageError } from '../../../src/errors.ts';
import { listOperations } from '../../../src/operations/catalogue.ts';
import { defaultThresholds } from '../../../src/thresholds.ts';
import { runProgram } from '../../support/program.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledgerlake-config-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

const key = { LEDGERLAKE_API_KEY: 'canary-8f3a-11' };

/** The configuration of this file's text (none: no file) and this environment; without one, of a command that asks nothing. */
async function read(
  text: string | null,
  env: NodeJS.ProcessEnv = {},
  needsKey = Object.keys(env).length > 0,
) {
  if (text !== null) writeFileSync(join(dir, 'ledgerlake.yaml'), text);
  return readConfig({ env, cwd: dir, needsKey });
}

async function refusal(reading: Promise<unknown>) {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  if (!(error instanceof UsageError)) throw error;
  return { message: error.message.replaceAll(`${dir}/`, ''), hint: error.hint };
}

describe('without a file', () => {
  test('everything has a default', async () => {
    const config = await read(null, { LEDGERLAKE_RPC_URL: '', LEDGERLAKE_WALLET_URL: '  ' }, false);
    expect(config.warehouse.threads).toBeGreaterThanOrEqual(1);
    expect(config).toEqual({
      environment: null,
      rpcUrl: undefined,
      walletUrl: undefined,
      webhookUrl: undefined,
      keyPlaces: defaultKeyPlaces,
      envFiles: [],
      limits: {},
      credits: {},
      monthlyCredits: null,
      billingDay: 1,
      paramNames: {},
      shortPageEnds: new Set(),
      onFinish: { webhook: null, command: null, when: 'always' },
      timeoutMs: 30_000,
      warehouse: {
        memoryLimit: '256MB',
        threads: config.warehouse.threads,
        keepRawDays: 30,
        quarantineLimit: 0.01,
        guards: defaultThresholds,
        fileMode: 0o640,
      },
      lake: {
        ...{
          format: 'parquet',
          endpoint: null,
          forcePathStyle: false,
          changes: false,
          extensionDirectory: null,
        },
        catalog: { uri: null, endpoint: null, warehouse: '', namespace: 'ledgerlake', auth: 'none' },
        ...{ uri: null, tables: null, partitionBy: {}, keep: 2 },
        places: { tables: 'lake.tables', partitionBy: 'lake.partition_by' },
      },
      sandbox: false,
    });
  });

  test('without a URL, sample data only where it was asked for', async () => {
    expect(await refusal(read(null, {}, true))).toMatchObject({
      message: 'no URL of an API is set',
      hint: expect.stringContaining('--sample'),
    });
    expect((await read('sample: true', {}, true)).sandbox).toBe(true);
    const env = { LEDGERLAKE_RPC_URL: 'https://api.example.com', LEDGERLAKE_API_KEY: 'canary-8f3a-11' };
    expect((await read('sample: true', env)).sandbox).toBe(false);
    expect(await refusal(readConfig({ env, cwd: dir, sample: true }))).toMatchObject({
      message: '--sample asks for sample data, but the URL of an API is set',
    });
  });

  test('a file that is asked for must be there', async () => {
    expect(await refusal(readConfig({ file: 'other.yaml', env: {}, cwd: dir }))).toEqual({
      message: 'cannot read other.yaml (ENOENT)',
      hint: 'Check that the file exists and that this user may read it.',
    });
  });

  test('whoever asks the API nothing needs no key', async () => {
    const env = { LEDGERLAKE_RPC_URL: 'https://api.example.com' };
    const config = await readConfig({ env, cwd: tmpdir(), needsKey: false });
    expect(config).toMatchObject({ rpcUrl: 'https://api.example.com', sandbox: false });
  });

  test.each(['LEDGERLAKE_API_KEY', 'LEDGERLAKE_API_KEY_FILE'])('%s needs a URL', async (name) => {
    expect(await refusal(read(null, { [name]: 'canary-8f3a-11' }))).toEqual({
      message: `${name} is set, but no URL`,
      hint: 'Set LEDGERLAKE_RPC_URL, or LEDGERLAKE_WALLET_URL or LEDGERLAKE_WEBHOOK_URL; unset the key for sample data.',
    });
  });

  test.each(['LEDGERLAKE_RPC_URL', 'LEDGERLAKE_WALLET_URL', 'LEDGERLAKE_WEBHOOK_URL'])(
    '%s needs a key',
    async (name) => {
      const env = { [name]: 'https://api.example.com' };
      const field = `api.${name.slice('LEDGERLAKE_'.length).toLowerCase()}`;
      expect(await refusal(read(null, { ...env, LEDGERLAKE_API_KEY: ' ' }))).toEqual({
        message: `${name} (or ${field}) is set, but no API key`,
        hint: 'Set LEDGERLAKE_API_KEY, in the environment or in .env beside the config, or LEDGERLAKE_API_KEY_FILE to a file that holds it; unset every URL for sample data. A key that is part of the URL: write {key} in its place, and set api.auth (docs/providers.md).',
      });
      expect(await read(null, { ...env, LEDGERLAKE_API_KEY_FILE: '/run/secrets/key' })).toMatchObject({
        sandbox: false,
      });
      // The key of another interface is none.
      const other = name === 'LEDGERLAKE_RPC_URL' ? 'LEDGERLAKE_WALLET_API_KEY' : 'LEDGERLAKE_RPC_API_KEY';
      expect((await refusal(read(null, { ...env, [other]: 'canary-8f3a-11' }))).message).toContain(name);
    },
  );

  test.each([
    [
      'api.example.com/canary',
      'LEDGERLAKE_RPC_URL is not a URL',
      'Write something like https://api.example.com.',
    ],
    [
      'http://api.example.com',
      'LEDGERLAKE_RPC_URL is not https',
      'Use https://, plain http is for this machine only.',
    ],
    [
      'ftp://127.0.0.1',
      'LEDGERLAKE_RPC_URL is not https',
      'Use https://, plain http is for this machine only.',
    ],
    [
      'https://api.example.com/?api-key=canary',
      'LEDGERLAKE_RPC_URL carries a query or credentials',
      'Keep only scheme, host and path; the key belongs in LEDGERLAKE_API_KEY.',
    ],
  ])('%s is refused, and not repeated', async (url, message, hint) => {
    expect(await refusal(read(null, { ...key, LEDGERLAKE_RPC_URL: url }))).toEqual({ message, hint });
  });

  test.each([
    'http://127.0.0.1:8080',
    'http://localhost:1',
    'http://[::1]:9/x',
    'https://api.example.com/v1',
  ])('%s is taken', async (url) => {
    expect(await read(null, { ...key, LEDGERLAKE_RPC_URL: ` ${url} ` })).toMatchObject({ rpcUrl: url });
  });
});

describe('{key} in a URL', () => {
  const env = { ...key, LEDGERLAKE_RPC_URL: 'https://api.example.com/v2/{key}' };

  test('says where the key goes, where api.auth says path', async () =>
    expect((await read('api: { auth: { rpc: path } }', env)).keyPlaces.rpc).toEqual({ in: 'path' }));

  test('is refused elsewhere: the mark would be sent as it stands', async () =>
    expect(await refusal(read(null, env))).toEqual({
      message: 'the URL of the rpc interface has {key} in it, but the key goes elsewhere',
      hint: 'Set in ledgerlake.yaml: api: { auth: { rpc: path } }, or take {key} out of the URL.',
    }));
});

describe('environments', () => {
  const text = `
api:
  rpc_url: https://common.example.com
  limits: { das: { rps: 5 }, fee: { rps: 1 } }
  monthly_credits: 1000
lake: { tables: [assets] }
environments:
  prod:
    api: { rpc_url: https://prod.example.com, limits: { das: { rps: 50 } } }
    lake: { tables: [assets, token_accounts] }
  dev: {}
`;
  const of = (environment: string | null, file: string | null = text) => {
    if (file !== null) writeFileSync(join(dir, 'ledgerlake.yaml'), file);
    return readConfig({ env: key, cwd: dir, environment });
  };

  test('what one says stands over what all have, a list as a whole', async () => {
    expect(await of('prod')).toMatchObject({
      environment: 'prod',
      rpcUrl: 'https://prod.example.com',
      limits: { das: { rps: 50 }, fee: { rps: 1 } },
      monthlyCredits: 1000,
      timeoutMs: 30_000,
      lake: {
        tables: ['assets', 'token_accounts'],
        places: { tables: `${dir}/ledgerlake.yaml:10: environments.prod.lake.tables` },
      },
    });
    expect(await of('dev')).toMatchObject({
      rpcUrl: 'https://common.example.com',
      limits: { das: { rps: 5 }, fee: { rps: 1 } },
      lake: { tables: ['assets'], places: { tables: `${dir}/ledgerlake.yaml:6: lake.tables` } },
    });
  });

  test('one has to be chosen, and to be there', async () => {
    expect(await refusal(of(null))).toEqual({
      message: 'ledgerlake.yaml has the environments prod, dev: choose one',
      hint: 'Say it with --env prod, or LEDGERLAKE_ENV=prod.',
    });
    expect(await refusal(of('prd'))).toEqual({
      message: 'ledgerlake.yaml has no environment "prd", did you mean "prod"?',
      hint: 'It has prod, dev.',
    });
    expect(await refusal(of('prod', 'api: {}'))).toEqual({
      message: 'ledgerlake.yaml has no environment "prod"',
      hint: 'It has no `environments:`.',
    });
  });

  test('there is none without a file', async () => {
    expect((await refusal(of('prod', null))).message).toBe(
      'there is no config file, so it has no environment "prod"',
    );
  });

  test('what is wrong in one that was not chosen is said, too', async () => {
    const wrong = `${text}  bad:\n    api: { rpc_url: "http://x.example", rps: 5 }\n`;
    expect((await refusal(of('prod', wrong))).message).toBe(
      'ledgerlake.yaml:13: environments.bad.api.rps: unknown field, expected one of rpc_url, wallet_url, webhook_url, auth, limits, monthly_credits, billing_day, credits, param_names, short_page_ends, timeout_s',
    );
    const plain = `${text}  bad: { api: { rpc_url: "http://x.example" } }\n`;
    expect((await refusal(of('prod', plain))).message).toBe(
      'ledgerlake.yaml:12: environments.bad.api.rpc_url: is not https; use https://, plain http is for this machine only',
    );
  });

  test('each has a data folder of its own', async () => {
    writeFileSync(join(dir, 'ledgerlake.yaml'), 'environments: { prod: {}, dev: {} }');
    const show = (args: string[], env = {}) => runProgram(['source', 'show', ...args], { cwd: dir, env });
    expect((await show(['--env', 'prod'])).stderr).toContain('nothing was run in data/prod yet');
    expect((await show([], { LEDGERLAKE_ENV: 'dev' })).stderr).toContain('nothing was run in data/dev yet');
    expect((await show(['--env', 'dev', '--data-dir', 'x'])).stderr).toContain('nothing was run in x yet');
    expect((await show([])).code).toBe(2);
  });

  test('config.schema.json is what the code says: else run `npm run schema`', () => {
    expect(readFileSync(new URL('../../../config.schema.json', import.meta.url), 'utf8')).toBe(
      configSchemaText(),
    );
  });
});

describe('a file', () => {
  test('sets everything; the environment wins', async () => {
    const text = `
api:
  rpc_url: https://one.example.com
  wallet_url: https://two.example.com
  auth: { rpc: bearer, wallet: "header:X-Token" }
  limits: { das: { rps: 50, burst: 10 }, proof: { rps: 0.5, concurrency: 2 }, fee: }
  monthly_credits: 1000000
  billing_day: 15
  credits: { getTokenAccounts: 20 }
  param_names: { getTokenAccounts: { mint: mintAddress, limit: pageSize } }
  short_page_ends: { getTokenAccounts: true, getAssetsByGroup: false }
  timeout_s: 2.5
warehouse: { memory_limit: 2GB, threads: 3, keep_raw_days: 0, quarantine_limit: 0.5, guards: { stale_share: 0.9, rows: 7 }, file_mode: "644" }
lake: { uri: exports, tables: [assets], partition_by: { assets: [collection] }, keep: 5 }
`;
    const env = { ...key, LEDGERLAKE_RPC_URL: 'https://env.example.com', LEDGERLAKE_WALLET_URL: '' };
    expect(await read(text, env)).toEqual({
      environment: null,
      rpcUrl: 'https://env.example.com',
      walletUrl: 'https://two.example.com',
      webhookUrl: undefined,
      keyPlaces: {
        rpc: { in: 'header', name: 'authorization', prefix: 'Bearer ' },
        wallet: { in: 'header', name: 'x-token', prefix: '' },
        webhook: defaultKeyPlaces.webhook,
      },
      envFiles: [],
      limits: { das: { rps: 50, burst: 10 }, proof: { rps: 0.5, concurrency: 2 } },
      credits: { getTokenAccounts: 20 },
      monthlyCredits: 1_000_000,
      billingDay: 15,
      paramNames: { getTokenAccounts: { mint: 'mintAddress', limit: 'pageSize' } },
      shortPageEnds: new Set(['getTokenAccounts']),
      onFinish: { webhook: null, command: null, when: 'always' },
      timeoutMs: 2500,
      warehouse: {
        memoryLimit: '2GB',
        threads: 3,
        keepRawDays: 0,
        quarantineLimit: 0.5,
        guards: { ...defaultThresholds, staleShare: 0.9, rows: 7 },
        fileMode: 0o644,
      },
      lake: {
        ...{
          format: 'parquet',
          endpoint: null,
          forcePathStyle: false,
          changes: false,
          extensionDirectory: null,
        },
        catalog: { uri: null, endpoint: null, warehouse: '', namespace: 'ledgerlake', auth: 'none' },
        uri: join(dir, 'exports'),
        tables: ['assets'],
        partitionBy: { assets: ['collection'] },
        keep: 5,
        places: {
          tables: `${dir}/ledgerlake.yaml:14: lake.tables`,
          partitionBy: `${dir}/ledgerlake.yaml:14: lake.partition_by`,
        },
      },
      sandbox: false,
    });
  });

  test('may be empty, or of comments and headings only', async () => {
    for (const text of ['', '# nothing yet\n', 'api:\n  # rpc_url: https://…\nlake:\n'])
      expect((await read(text)).sandbox).toBe(false);
  });

  test('elsewhere takes lake.uri from its own folder', async () => {
    mkdirSync(join(dir, 'etc'));
    writeFileSync(join(dir, 'etc/lake.yaml'), 'lake: { uri: ../out }\n');
    const config = await readConfig({ file: 'etc/lake.yaml', env: {}, cwd: dir, needsKey: false });
    expect(config.lake.uri).toBe(join(dir, 'out'));
    writeFileSync(join(dir, 'etc/lake.yaml'), 'lake: { uri: "s3://bucket/lake" }\n');
    const absolute = { file: join(dir, 'etc/lake.yaml'), env: {}, cwd: '/', needsKey: false };
    expect((await readConfig(absolute)).lake.uri).toBe('s3://bucket/lake');
  });

  test('is refused with every problem, named by line and field', async () => {
    const names = listOperations().map(({ name }) => name);
    const text = `api:
  rpc-url: https://one.example.com
  limits: { dsa: { rps: 5 }, das: { rps: 0 } }
  billing_day: 32
  credits:
    getTokenAccount: 1
    nothing: 1
  param_names:
    getTokenAccounts: { holder: x }
  api_key: canary
warehouse:
  file_mode: 0640
  memory_limit: lots
lake:
  uri: s3://id:secret@bucket/x
  keep: 0
colour: blue
`;
    expect(await refusal(read(text))).toEqual({
      message: [
        'ledgerlake.yaml:2: api.rpc-url: unknown field, did you mean "rpc_url"?',
        'ledgerlake.yaml:3: api.limits.das.rps: expected number to be >0',
        'ledgerlake.yaml:3: api.limits.dsa: unknown field, did you mean "das"?',
        'ledgerlake.yaml:4: api.billing_day: expected number to be <=31',
        'ledgerlake.yaml:6: api.credits.getTokenAccount: there is no such operation, did you mean "getTokenAccounts"?',
        `ledgerlake.yaml:7: api.credits.nothing: there is no such operation, expected one of ${names.join(', ')}`,
        'ledgerlake.yaml:9: api.param_names.getTokenAccounts.holder: no parameter of getTokenAccounts, expected one of mint, owner, options, options.showZeroBalance, limit, cursor, page, before, after, sortBy',
        'ledgerlake.yaml:10: api.api_key: the API key does not belong in this file; set LEDGERLAKE_API_KEY or LEDGERLAKE_API_KEY_FILE in the environment, and replace this key, because others may have read it',
        'ledgerlake.yaml:12: warehouse.file_mode: expected octal digits in quotes, such as "0640"',
        'ledgerlake.yaml:13: warehouse.memory_limit: expected a size such as 256MB or 2GB',
        'ledgerlake.yaml:15: lake.uri: carries credentials; keep them in the environment',
        'ledgerlake.yaml:16: lake.keep: expected number to be >=1',
        'ledgerlake.yaml:17: colour: unknown field, expected one of api, warehouse, lake, on_finish, sample, environments',
      ].join('\n'),
      hint: 'Correct the config file, or name another with --config.',
    });
  });

  test.each(['255MB', '0.25GB', '255999KB', '244.1 MiB', '0GB'])(
    'may not give DuckDB %s of memory: publish needs 256MB',
    async (memory) => {
      const { message } = await refusal(read(`warehouse: { memory_limit: ${memory} }\n`));
      expect(message).toBe(
        'ledgerlake.yaml:1: warehouse.memory_limit: expected at least 256MB: a publish runs out of memory with less',
      );
    },
  );

  test.each(['256MB', '245 MiB', '256000kb', '0.256GB', '1TiB'])('may give DuckDB %s', async (memory) => {
    const { warehouse } = await read(`warehouse: { memory_limit: ${memory} }\n`);
    expect(warehouse.memoryLimit).toBe(memory);
  });

  test('may not hold a URL that is none, or one with a key', async () => {
    const text = 'api:\n  rpc_url: "https://h/?api-key=canary"\n  wallet_url: http://h\n';
    expect((await refusal(read(text, key))).message).toBe(
      [
        'ledgerlake.yaml:2: api.rpc_url: carries a query or credentials; keep only scheme, host and path; the key belongs in LEDGERLAKE_API_KEY',
        'ledgerlake.yaml:3: api.wallet_url: is not https; use https://, plain http is for this machine only',
      ].join('\n'),
    );
  });

  test('with a URL needs a key', async () => {
    expect((await refusal(read('api: { webhook_url: "https://h" }\n', {}, true))).message).toBe(
      'LEDGERLAKE_WEBHOOK_URL (or api.webhook_url) is set, but no API key',
    );
  });

  test('that is not YAML is refused by line', async () => {
    expect((await refusal(read('api:\n  rpc_url: [\n'))).message).toMatch(
      /^ledgerlake\.yaml:\d+: not valid YAML: /,
    );
  });
});
