import { onTestFinished } from 'vitest';
import { readApiKey } from '../../src/api/api-key.ts';
import { type ApiClient, createClient } from '../../src/api/client.ts';
import type { AttemptEntry, ClientOptions } from '../../src/api/client-state.ts';
import type { Http, HttpAnswer } from '../../src/api/http.ts';
import { operation, readJson } from './api-client.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What an API does with a request that arrives now; undefined: a good answer. */
export type Respond = (arrival: { at: number; body: string; nth: number }) => Partial<HttpAnswer> | undefined;

export interface SimulatedOptions {
  random(): number;
  respond: Respond;
  /** Milliseconds to the server and back again, with fractions. */
  travel?(): { there: number; back: number };
  limits?: ClientOptions['limits'];
}

export interface Arrival {
  /** Ms since 1970: when it left us, when it came there. */
  sent: number;
  at: number;
  status: number;
  body: string;
}

/** The real client over an API that is simulated in virtual time. */
export interface Simulated {
  client: ApiClient;
  arrivals: Arrival[];
  attempts: AttemptEntry[];
}

/** @param travel 20 ms there and 60 to 100 back, if nothing is said */
export function simulateApi(clock: VirtualClock, options: SimulatedOptions): Simulated {
  const { random, respond, limits = {} } = options;
  const travel = options.travel ?? (() => ({ there: 20, back: 60 + 40 * random() }));
  const arrivals: Arrival[] = [];
  const attempts: AttemptEntry[] = [];
  const { sleep } = clock.timing(random);
  const http: Http = {
    origin: () => 'https://api.example.com',
    close: async () => {},
    async request({ body: sentBody = '' }) {
      const sent = clock.now();
      const { there, back } = travel();
      // Timers take whole milliseconds, so what is left of the way there is part of the arrival's time only.
      await sleep(there);
      const at = sent + there;
      const { id } = JSON.parse(sentBody) as { id: string };
      const special = respond({ at, body: sentBody, nth: arrivals.length + 1 }) ?? {};
      const good = {
        status: 200,
        retryAfter: null,
        date: null,
        age: null,
        body: Buffer.from(`{"jsonrpc":"2.0","id":"${id}","result":{"items":[]}}`),
      };
      const answer = { bytes: 0, release() {}, ...good, ...special };
      arrivals.push({ sent, at, status: answer.status, body: sentBody });
      await sleep(back);
      return answer;
    },
  };
  const client = createClient(
    {
      endpoints: {},
      limits,
      credits: {},
      timeoutMs: 60_000,
      paramNames: {},
      onAttempt: (entry) => attempts.push(entry),
      userAgent: 'test',
    },
    { key: readApiKey({ LEDGERLAKE_API_KEY: 'key' }), timing: clock.timing(random), http },
  );
  onTestFinished(() => client.close());
  return { client, arrivals, attempts };
}

/** A bucket that gives nothing on credit: each request takes a token, or is turned away. */
export function strictBucket(
  rps: (at: number) => number,
  burst: (at: number) => number,
): (at: number) => boolean {
  let tokens = Number.POSITIVE_INFINITY;
  let filledAt: number | null = null;
  return (at) => {
    const gained = filledAt === null ? Number.POSITIVE_INFINITY : ((at - filledAt) * rps(at)) / 1000;
    tokens = Math.min(burst(at), tokens + gained);
    filledAt = at;
    // A billionth of a token is rounding.
    if (tokens < 1 - 1e-9) return false;
    tokens -= 1;
    return true;
  };
}

/**
 * Keeps `count` workers, numbered from 0 in their requests, asking until the clock stands at `until`, whatever they are
 * told.
 * @param most requests in all, if there is an end to them
 */
export async function keepAsking(
  { client }: Pick<Simulated, 'client'>,
  clock: VirtualClock,
  { count, until, most = Number.POSITIVE_INFINITY }: { count: number; until: number; most?: number },
): Promise<void> {
  let asked = 0;
  const work = async (worker: number) => {
    while (clock.now() < until && asked < most) {
      asked += 1;
      await client.send(operation(), { worker }, readJson).catch(() => undefined);
    }
  };
  for (let n = 0; n < count; n += 1) void work(n);
  await clock.pass(until - clock.now());
}
