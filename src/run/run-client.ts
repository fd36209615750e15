import { readFile, rename, writeFile } from 'node:fs/promises';
import type { ApiKey } from '../api/api-key.ts';
import { type ApiClient, createClient } from '../api/client.ts';
import type { ClientOptions } from '../api/client-state.ts';
import type { Pool, Transport } from '../operations/operation.ts';
import { type Budget, billingPeriodStart, leftOf } from './budget.ts';
import { sumCredits } from './request-log.ts';
import type { Session } from './session.ts';

/** The API's endpoints, and the key where it is not the environment's. */
export interface ApiAccess {
  endpoints: Partial<Record<Transport, string>>;
  key?: ApiKey;
  /** Whether the embedded sandbox answers, which has no rate limit to find out. */
  sandbox?: boolean;
}

type ClientContext = Pick<Session, 'config' | 'folder'>;

/** The current billing month's remaining credits, at least 0; null: no limit is configured. */
export async function readMonthlyLeft({ config, folder }: ClientContext): Promise<number | null> {
  if (config.monthlyCredits === null) return null;
  const since = billingPeriodStart(new Date(), config.billingDay);
  return leftOf(config.monthlyCredits, await sumCredits(folder.requests, since));
}

/**
 * Opens the client of a run or a single request, with the config's limits and the rates that earlier runs learnt.
 * @param onAttempt called for every attempt, with the job that made it
 */
export async function openClient(
  { config, folder }: ClientContext,
  api: ApiAccess,
  budget: Budget,
  onAttempt: ClientOptions['onAttempt'],
  stop: Pick<ClientOptions, 'signal' | 'stopping'>,
): Promise<ApiClient> {
  return createClient(
    {
      endpoints: api.endpoints,
      limits: config.limits,
      credits: config.credits,
      timeoutMs: config.timeoutMs,
      paramNames: config.paramNames,
      budget,
      onAttempt,
      userAgent: 'ledgerlake',
      unlimited: api.sandbox ?? false,
      ...stop,
      learntRates: await readRates(folder.rates),
    },
    api.key === undefined ? {} : { key: api.key },
  );
}

export type Rates = Partial<Record<Pool, number>>;

/** Rates that held in earlier runs; empty when the file is missing or torn, because they can be learnt again. */
export async function readRates(path: string): Promise<Rates> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Rates;
  } catch {
    return {};
  }
}

/** Saves the rates that held, for the next run. */
export async function saveRates(path: string, client: ApiClient): Promise<void> {
  const learnt = client.learntRates();
  if (Object.keys(learnt).length === 0) return;
  await writeFile(`${path}.tmp`, JSON.stringify({ ...(await readRates(path)), ...learnt }), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}
