import { onTestFinished } from 'vitest';
import type * as z from 'zod';
import { readApiKey } from '../../src/api/api-key.ts';
import { type ApiClient, createClient } from '../../src/api/client.ts';
import type { AttemptEntry, ClientOptions } from '../../src/api/client-state.ts';
import type { Http } from '../../src/api/http.ts';
import type { Timing } from '../../src/api/timing.ts';
import type { Operation } from '../../src/operations/operation.ts';

export const canary = 'canary-key/7f3a+9b21==';

/** An operation with only what the client looks at. */
export function operation(overrides: Partial<Operation> = {}): Operation {
  return {
    name: 'getAsset',
    describe: 'test',
    transport: 'rpc',
    params: undefined as unknown as z.ZodObject,
    paging: 'none',
    limit: null,
    records: { path: [], form: 'single' },
    slotAt: [],
    pool: 'das',
    credits: 10,
    shape: 'asset',
    table: 'assets',
    ...overrides,
  };
}

/** A clock that jumps instead of waiting, and no jitter. */
export function jumpingTime(random = 0): Timing & { slept: number[] } {
  let now = Date.UTC(2026, 0, 1);
  const slept: number[] = [];
  return {
    slept,
    now: () => now,
    random: () => random,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

/** A client of one server, its log of attempts and the clock it runs on. */
export function clientOf(url: string, overrides: Partial<ClientOptions> = {}, timing?: Timing, http?: Http) {
  const attempts: AttemptEntry[] = [];
  const time = timing ?? jumpingTime();
  const client: ApiClient = createClient(
    {
      endpoints: { rpc: url, wallet: url, webhook: url },
      limits: {},
      credits: {},
      timeoutMs: 5_000,
      paramNames: {},
      onAttempt: (entry) => attempts.push(entry),
      userAgent: 'ledgerlake-test',
      unlimited: true,
      ...overrides,
    },
    { key: readApiKey({ LEDGERLAKE_API_KEY: canary }), timing: time, ...(http ? { http } : {}) },
  );
  onTestFinished(() => client.close());
  return { client, attempts, time };
}

/** Stands in for the splitter: the whole document is the envelope. */
export function readJson(body: Buffer): { envelope: unknown } {
  return { envelope: JSON.parse(body.toString()) };
}

export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected an error');
}
