import { readFile, rename, writeFile } from 'node:fs/promises';
import type { ApiKey } from '../api/api-key.ts';
import { type ApiClient, createClient } from '../api/client.ts';
import type { Pool, Transport } from '../api/operation.ts';
import type { Budget } from './budget.ts';
import type { RequestLog } from './request-log.ts';
import type { Session } from './session.ts';

/** Where the API answers, and with which key when not the environment's. */
export interface ApiPlace {
  endpoints: Partial<Record<Transport, string>>;
  key?: ApiKey;
}

/** The client of a run: its limits, its budget, its request log, and the rates earlier runs found. */
export async function openClient(
  session: Session,
  place: ApiPlace,
  budget: Budget,
  requests: RequestLog,
  signal: AbortSignal,
): Promise<ApiClient> {
  const { config, folder } = session;
  return createClient(
    {
      endpoints: place.endpoints,
      limits: config.limits,
      credits: config.credits,
      timeoutMs: config.timeoutMs,
      paramNames: config.paramNames,
      budget,
      onAttempt: (entry) => requests.add(entry),
      userAgent: 'ledgerlake',
      signal,
      learntRates: await readRates(folder.rates),
    },
    place.key === undefined ? {} : { key: place.key },
  );
}

type Rates = Partial<Record<Pool, number>>;

/** Rates that held in earlier runs; none when the file is missing or was torn: they are found again. */
async function readRates(path: string): Promise<Rates> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Rates;
  } catch {
    return {};
  }
}

/** Keeps the rates that held for the next run. */
export async function keepRates(path: string, client: ApiClient): Promise<void> {
  const learnt = client.learntRates();
  if (Object.keys(learnt).length === 0) return;
  await writeFile(`${path}.tmp`, JSON.stringify({ ...(await readRates(path)), ...learnt }), { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}
