import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { createWorld } from '../../../src/sandbox/world.ts';
import { type HttpServer, openServer } from '../../support/http-server.ts';

const id = '11111111-2222-4333-8444-555555555555';
const size = { assets: 500, owners: 60 };
const watched = [...createWorld(size).truth().owners()][0] as string;

/** A receiver on loopback, which answers with `status` and keeps what it got. */
let receiver: HttpServer;
let received: {
  authorization: string | undefined;
  body: { signature: string; slot: number; type: string };
}[] = [];
let statusOf: (delivery: number) => number = () => 200;
let sandbox: Sandbox;

beforeAll(async () => {
  receiver = await openServer(({ headers, body }, response) => {
    received.push({ authorization: headers.authorization, body: JSON.parse(body)[0] });
    response.writeHead(statusOf(received.length), { location: 'http://example.com/' }).end('seen');
  });
  const webhookURL = `${receiver.url}/hook`;
  const one = { webhookID: id, webhookURL, accountAddresses: [watched], authHeader: 'Bearer 1' };
  sandbox = await startSandbox({ ...size, webhooks: [one] });
});
afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});
beforeEach(() => {
  received = [];
  statusOf = () => 200;
});

async function patch(webhookID: string, body: unknown, query = '?api-key=sandbox') {
  const answer = await fetch(`${sandbox.url}/v0/webhooks/${webhookID}${query}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, on purpose
  return { status: answer.status, body: (await answer.json()) as any };
}

async function tick(n: number) {
  sandbox.tick(n);
  await sandbox.webhooks.settled();
}

const activeNow = () => sandbox.webhooks.records().find((one) => one.webhookID === id)?.active;

describe('switching', () => {
  test('answers the updated record, the secret included', async () => {
    const [first] = sandbox.webhooks.records();
    const off = await patch(first?.webhookID as string, { active: false });
    expect(off).toEqual({ status: 200, body: { ...first, active: false } });
    expect(off.body.authHeader).toBe('Bearer sandbox-secret');
    expect((await patch(first?.webhookID as string, { active: true })).body).toEqual(first);
    expect(sandbox.webhooks.records()[1]).not.toHaveProperty('authHeader');
  });

  test.each([
    ['not-a-uuid', { active: true }, 400],
    ['11111111-2222-1333-8444-555555555555', { active: true }, 400],
    ['99999999-2222-4333-8444-555555555555', { active: true }, 404],
    [id, { active: 'true' }, 400],
    [id, { active: true, webhookURL: 'http://127.0.0.1:1/' }, 400],
    [id, {}, 400],
    [id, [true], 400],
    [id, '{"active":', 400],
  ])('%s %j: %i', async (webhookID, body, expected) => {
    expect((await patch(webhookID, body)).status).toBe(expected);
    expect(activeNow()).toBe(true);
  });

  test('needs the key in the query', async () => {
    expect(await patch(id, { active: false }, '')).toMatchObject({ status: 401, body: { statusCode: 401 } });
    expect((await patch(id, { active: false }, '?api-key=sandbox-forbidden')).status).toBe(403);
    expect(activeNow()).toBe(true);
  });
});

describe('deliveries', () => {
  test("a tick delivers each new transaction of the watched wallet's history, with the auth header", async () => {
    const before = sandbox.world.slot;
    await tick(2);
    const expected = sandbox.world
      .truth()
      .walletTransactions(watched)
      .filter((one) => one.slot > before);
    expect(expected.length).toBeGreaterThan(1);
    expect(new Set(received.map((one) => one.body.signature))).toEqual(
      new Set(expected.map((one) => one.signature)),
    );
    expect(received.length).toBe(expected.length);
    expect(new Set(received.map((one) => one.authorization))).toEqual(new Set(['Bearer 1']));
    const slots = received.map((one) => one.body.slot);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
  });

  test('none while disabled, again when enabled', async () => {
    await patch(id, { active: false });
    await tick(2);
    expect(received).toEqual([]);
    await patch(id, { active: true });
    await fetch(`${sandbox.url}/_sandbox/tick`, { method: 'POST', body: '{"n":2}' });
    expect(received.length).toBeGreaterThan(0);
  });

  test.each([500, 302])('a receiver that answers %i is disabled after five failures', async (failing) => {
    await patch(id, { active: true });
    await tick(8);
    statusOf = () => failing;
    received = [];
    await tick(10);
    expect(received.length).toBe(5);
    expect(activeNow()).toBe(false);
    expect(sandbox.webhooks.deliveries.slice(-5).map((one) => one.status)).toEqual(Array(5).fill(failing));
    statusOf = () => 200;
    expect((await patch(id, { active: true })).body.active).toBe(true);
    received = [];
    await tick(6);
    expect(received.length).toBeGreaterThan(1);
    expect(activeNow()).toBe(true);
  });

  test('two failures of five are borne', async () => {
    await patch(id, { active: true });
    statusOf = (delivery) => (delivery % 5 < 2 ? 500 : 200);
    await tick(12);
    expect(received.length).toBeGreaterThan(15);
    expect(activeNow()).toBe(true);
  });

  test('a receiver elsewhere is never called', async () => {
    const own = await startSandbox({
      ...size,
      webhooks: [{ webhookID: id, webhookURL: 'http://10.0.0.1:9/', accountAddresses: [watched] }],
    });
    own.tick(3);
    await own.webhooks.settled();
    expect(own.webhooks.deliveries).toEqual([]);
    expect(own.webhooks.records().at(-1)?.active).toBe(true);
    await own.close();
  });
});

test('only loopback is listened on', async () => {
  await expect(startSandbox({ ...size, host: '0.0.0.0' })).rejects.toThrow('loopback only');
  const named = await startSandbox({ ...size, host: 'localhost' });
  expect((await fetch(`${named.url}/_sandbox/requests`)).status).toBe(200);
  await named.close();
});
