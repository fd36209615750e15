import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../support/http-server.ts';
import { startProgram } from '../../support/program.ts';
import { openSandboxWorkplace, type SandboxWorkplace } from '../../support/workplace.ts';

const secret = 'Bearer canary-3f1d/"quoted"-ünïcode';
const watched = '6f1f3a52-0d1b-4c8e-8a57-0d2f4b6c8e77';

/** A receiver on loopback that answers as it is told, and the authorization values it was sent. */
async function startReceiver() {
  const state = { status: 200, authorizations: [] as (string | undefined)[], bodies: [] as string[] };
  const { url } = await startServer(({ headers, body }, response) => {
    state.authorizations.push(headers.authorization);
    state.bodies.push(body);
    response.writeHead(state.status).end();
  });
  return { ...state, state, url: `${url}/hook` };
}

async function openWatched(authHeader = 'Bearer canary-3f1d'): Promise<{
  place: SandboxWorkplace;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
}> {
  const receiver = await startReceiver();
  const probe = await openSandboxWorkplace({ seed: 41 });
  const accountAddresses = [...probe.sandbox.world.truth().owners()];
  const place = await openSandboxWorkplace({
    seed: 41,
    webhooks: [{ webhookID: watched, webhookURL: receiver.url, accountAddresses, authHeader }],
  });
  return { place, receiver };
}

/** Moves the ledger, and waits for what is delivered. */
async function tick({ sandbox }: SandboxWorkplace, n = 1): Promise<number> {
  const before = sandbox.webhooks.deliveries.length;
  sandbox.tick(n);
  await sandbox.webhooks.settled();
  return sandbox.webhooks.deliveries.length - before;
}

async function webhook(place: SandboxWorkplace, action: string, id = watched) {
  const { code, stdout, stderr } = await place.cli('webhook', action, id, '--json');
  if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('setWebhookActive', () => {
  test('active ↔ disabled: deliveries pause and resume, and the record is the updated one', async () => {
    const { place, receiver } = await openWatched();
    expect(await tick(place)).toBeGreaterThan(0);
    const { authHeader: _, ...rest } = place.sandbox.webhooks
      .records()
      .find(({ webhookID }) => webhookID === watched)!;

    expect(await webhook(place, 'disable')).toEqual({ ...rest, active: false, has_auth_header: true });
    expect(await tick(place, 2)).toBe(0);
    expect(await webhook(place, 'enable')).toEqual({ ...rest, active: true, has_auth_header: true });
    // Twice is once.
    expect(await webhook(place, 'enable')).toMatchObject({ active: true });
    expect(await tick(place)).toBeGreaterThan(0);
    expect(new Set(receiver.authorizations)).toEqual(new Set(['Bearer canary-3f1d']));
  });

  test('a webhook that was disabled automatically is enabled again', async () => {
    const { place, receiver } = await openWatched();
    receiver.state.status = 500;
    await tick(place, 3);
    const deliveries = place.sandbox.webhooks.deliveries.filter(({ webhookID }) => webhookID === watched);
    expect(deliveries.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500]);
    expect(await tick(place)).toBe(0);
    receiver.state.status = 204;
    expect(await webhook(place, 'enable')).toMatchObject({ active: true });
    expect(await tick(place)).toBeGreaterThan(0);
  });

  test('rows: the table has the last state of each webhook', async () => {
    const { place } = await openWatched();
    const [first, second] = place.sandbox.webhooks.records();
    await webhook(place, 'disable');
    await webhook(place, 'enable');
    await webhook(place, 'disable');
    await webhook(place, 'enable', second!.webhookID.toUpperCase());
    await place.write({
      'jobs/none.yaml': 'describe: t\nmethod: getLatestCompressionSignatures\nsince: {pages: 1}\n',
    });
    const { published } = await place.mustRun();
    expect(published.tables.webhooks).toMatchObject({ seen: 4, inserted: 2, changed: 2 });
    const records = place.sandbox.webhooks.records();
    const rows = await place.rows(
      `select webhook_id, wallet, webhook_url, transaction_types, account_addresses, webhook_type, has_auth_header,
        active, extra, slot from webhooks order by webhook_id`,
    );
    const expected = records
      .filter(({ webhookID }) => webhookID !== first!.webhookID)
      .map((one) => ({
        webhook_id: one.webhookID,
        wallet: one.wallet,
        webhook_url: one.webhookURL,
        transaction_types: one.transactionTypes,
        account_addresses: one.accountAddresses,
        webhook_type: one.webhookType,
        has_auth_header: one.authHeader !== undefined,
        active: one.active,
        extra: null,
        slot: null,
      }))
      .sort((a, b) => (a.webhook_id < b.webhook_id ? -1 : 1));
    expect(rows).toEqual(expected);
    // A later change is a change of the row.
    await webhook(place, 'enable');
    expect((await place.mustRun()).published.tables.webhooks).toMatchObject({ seen: 1, changed: 1 });
    expect(await place.rows(`select active from webhooks where webhook_id = '${watched}'`)).toEqual([
      { active: true },
    ]);
  });

  test('it takes no lock: a run at work does not see the page, the next one does', async () => {
    const { place } = await openWatched();
    await place.write({
      'jobs/none.yaml': 'describe: t\nmethod: getLatestCompressionSignatures\nsince: {pages: 1}\n',
    });
    const { url } = place.sandbox;
    const env = {
      LEDGERLAKE_RPC_URL: url,
      LEDGERLAKE_WALLET_URL: url,
      LEDGERLAKE_WEBHOOK_URL: url,
      LEDGERLAKE_API_KEY: 'sandbox',
    };
    const run = startProgram(['run', '--json'], { cwd: place.root, env });
    const changes = Array.from({ length: 3 }, (_, n) => webhook(place, n % 2 === 0 ? 'disable' : 'enable'));
    expect((await run.ended).code).toBe(0);
    await Promise.all(changes);
    await place.mustRun();
    expect(await place.rows('select count(*)::integer as n from webhooks')).toEqual([{ n: 1 }]);
    expect(await readdir(join(place.data, 'incoming'))).toEqual([]);
  });

  test('an id that is no UUIDv4 is refused before anything is sent or written, exit 2', async () => {
    const place = await openSandboxWorkplace({ seed: 41 });
    for (const id of ['', '..', 'x', '3f0c9a52-6d1b-1c8e-9a57-0d2f4b6c8e11', `${watched}/`]) {
      const { code, stdout, stderr } = await place.cli('webhook', 'enable', id);
      expect({ id, code, stdout }).toEqual({ id, code: 2, stdout: '' });
      expect(stderr).toContain('UUIDv4');
    }
    expect((await place.cli('webhook', 'delete', watched)).code).toBe(2);
    expect(place.sandbox.requests).toEqual([]);
    expect(await readdir(place.root)).toEqual(['ledgerlake.yaml']);
  });

  test('an unknown id is a failure that says so; nothing is kept', async () => {
    const place = await openSandboxWorkplace({ seed: 41 });
    const { code, stdout, stderr } = await place.cli('webhook', 'enable', watched);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('Webhook not found');
    expect(await readdir(place.data)).not.toContain('incoming');
  });

  test('a folder that holds data of another source is refused before anything is sent', async () => {
    const { place } = await openWatched();
    await place.write({
      'jobs/none.yaml': 'describe: t\nmethod: getLatestCompressionSignatures\nsince: {pages: 1}\n',
    });
    await place.mustRun();
    const other = await openSandboxWorkplace({ seed: 41 });
    await mkdir(other.data);
    await rename(join(place.data, 'warehouse.duckdb'), join(other.data, 'warehouse.duckdb'));
    const { code, stderr } = await other.cli('webhook', 'enable', watched);
    expect(code).toBe(2);
    expect(stderr).toContain('this data folder holds data of');
    expect(other.sandbox.requests).toEqual([]);
  });

  test.each([
    ['', 'Bearer canary-3f1d'],
    ['with quotes, ', secret.replace('ünïcode', 'x')],
  ])('%sthe authHeader value is in no file and no output', async (_what, authHeader) => {
    const { place } = await openWatched(authHeader);
    await place.write({
      'jobs/none.yaml': 'describe: t\nmethod: getLatestCompressionSignatures\nsince: {pages: 1}\n',
    });
    const call = JSON.stringify({ webhookID: watched, active: true });
    const { stdout } = await place.cli('call', 'setWebhookActive', call, '--log-level', 'debug');
    expect(JSON.parse(stdout)).toMatchObject({ webhookID: watched, has_auth_header: true });
    expect(JSON.parse(stdout)).not.toHaveProperty('authHeader');
    await place.cli('webhook', 'disable', watched, '--log-level', 'debug');
    await place.cli('run', '--log-level', 'debug');
    await place.cli('export');
    await place.cli('sql', 'from webhooks', '--format', 'json');
    expect(await place.rows('select has_auth_header from webhooks')).toEqual([{ has_auth_header: true }]);
    const texts = await place.everyText();
    expect(texts).toContain(watched);
    for (const spelling of [
      'canary-3f1d',
      Buffer.from('canary-3f1d').toString('hex'),
      Buffer.from(authHeader).toString('base64').slice(0, 16),
    ])
      expect(texts.includes(spelling)).toBe(false);
  });
});
