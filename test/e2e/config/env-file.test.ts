import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findKeyVariable, readApiKey } from '../../../src/api/api-key.ts';
import { readEnvFiles } from '../../../src/config/env-file.ts';
import { UsageError } from '../../../src/errors.ts';
import { runProgram } from '../../support/program.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledgerlake-env-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function writeEnv(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const read = (env: NodeJS.ProcessEnv = {}, { config, name }: { config?: string; name?: string } = {}) =>
  readEnvFiles({ config, name, env, cwd: folder });
const pathOf = (envFiles: string[], env: NodeJS.ProcessEnv = {}) =>
  readApiKey(env, { envFiles }).authorize('rpc', { path: '/', headers: {} }).path;

test('nothing there: the environment as it is', () => {
  expect(read({ A: '1' })).toEqual({ env: { A: '1' }, environment: null, envFiles: [], warnings: [] });
});

test('.env fills what the environment does not have; an empty variable is had', () => {
  const path = writeEnv(
    '.env',
    '# ours\nexport LEDGERLAKE_RPC_URL=https://a.example\nLEDGERLAKE_WALLET_URL="https://b.example" # beta\nLEDGERLAKE_WEBHOOK_URL=https://c.example\n',
  );
  expect(read({ LEDGERLAKE_WALLET_URL: '', LEDGERLAKE_WEBHOOK_URL: 'https://d.example' })).toEqual({
    env: {
      LEDGERLAKE_RPC_URL: 'https://a.example',
      LEDGERLAKE_WALLET_URL: '',
      LEDGERLAKE_WEBHOOK_URL: 'https://d.example',
    },
    environment: null,
    envFiles: [path],
    warnings: [],
  });
});

test('the key stays in its file, for the module that reads it; other programs have their own variables', () => {
  const path = writeEnv(
    '.env',
    'LEDGERLAKE_API_KEY=canary-8f3a-11\nPATH=/nowhere\nNODE_OPTIONS=--inspect\nAWS_REGION=eu-1\n',
  );
  const { env, envFiles } = read({ HOME: '/x' });
  expect(env).toEqual({ HOME: '/x', AWS_REGION: 'eu-1' });
  expect(pathOf(envFiles)).toBe('/?api-key=canary-8f3a-11');
  expect(findKeyVariable('rpc', {}, envFiles)).toEqual({ name: 'LEDGERLAKE_API_KEY', file: path });
});

test('the key of the environment wins; an empty one is none, whatever .env has', () => {
  writeEnv('.env', 'LEDGERLAKE_API_KEY=from-env-file\n');
  const { envFiles } = read();
  expect(pathOf(envFiles, { LEDGERLAKE_API_KEY: 'direct' })).toBe('/?api-key=direct');
  expect(pathOf(envFiles, { LEDGERLAKE_API_KEY: '' })).toBe('/');
});

test('LEDGERLAKE_API_KEY_FILE in .env is a path from there', () => {
  writeEnv('.env', 'LEDGERLAKE_API_KEY_FILE=secret/key\n');
  mkdirSync(join(folder, 'secret'));
  writeEnv('secret/key', 'from-key-file\n');
  expect(pathOf(read().envFiles)).toBe('/?api-key=from-key-file');
});

test('.env.<environment> wins over .env, and .env may say which environment is meant', () => {
  const common = writeEnv('.env', 'LEDGERLAKE_ENV=prod\nLEDGERLAKE_API_KEY=of-all\nAWS_REGION=a\nOTEL_X=o\n');
  const own = writeEnv('.env.prod', 'LEDGERLAKE_API_KEY=of-prod\nAWS_REGION=b\n');
  const { env, environment, envFiles } = read();
  expect(environment).toBe('prod');
  expect(env).toEqual({ LEDGERLAKE_ENV: 'prod', AWS_REGION: 'b', OTEL_X: 'o' });
  expect(envFiles).toEqual([own, common]);
  expect(pathOf(envFiles)).toBe('/?api-key=of-prod');
  expect(read({ LEDGERLAKE_ENV: 'dev' }).envFiles).toEqual([common]);
  expect(read({ LEDGERLAKE_ENV: 'dev' }, { name: 'prod' }).environment).toBe('prod');
  expect(read({ LEDGERLAKE_ENV: '' }).environment).toBe(null);
});

test('the file stands beside the config', () => {
  mkdirSync(join(folder, 'etc'));
  const path = writeEnv('etc/.env', '');
  expect(read({}, { config: 'etc/lake.yaml' }).envFiles).toEqual([path]);
});

test.each(['../x', 'a b', '-x', ''])('"%s" is no environment', (name) => {
  expect(() => read({}, { name })).toThrow(UsageError);
});

test('a file that is no file is a usage error', () => {
  mkdirSync(join(folder, '.env'));
  expect(() => read()).toThrow(/cannot read .*\.env \(EISDIR\)/);
});

test('a command takes its URL from .env, and warns of one that others can read', async () => {
  const path = writeEnv(
    '.env',
    'LEDGERLAKE_RPC_URL=http://127.0.0.1:9\nLEDGERLAKE_API_KEY=canary-8f3a-11\n',
    0o644,
  );
  mkdirSync(join(folder, 'jobs'));
  writeFileSync(
    join(folder, 'jobs/a.yaml'),
    'describe: x\nmethod: walletIdentity\nparams: { wallet: "11111111111111111111111111111111" }\n',
  );
  const { code, stderr } = await runProgram(['run'], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toBe(`ledgerlake: warning: other users may read ${path} (mode 644): chmod 600 ${path}
ledgerlake: jobs/a.yaml: walletIdentity asks the wallet interface, which has no URL
  Set LEDGERLAKE_WALLET_URL, or api.wallet_url in ledgerlake.yaml.
`);
});
