import type { WalletEvent } from './wallet-events.ts';
import { historyRecord } from './wallet-records.ts';
import type { World } from './world.ts';
import { blockTimeOf } from './world-signatures.ts';

export interface Webhooks {
  /** Their current records. */
  records(): WebhookRecord[];
  /** Every delivery that was tried, oldest first. */
  readonly deliveries: Delivery[];
  /** Enables or disables one; null for an unknown id. Enabling forgets earlier failures. */
  setActive(webhookID: string, active: boolean): WebhookRecord | null;
  /** Starts to deliver the transactions of watched wallets above a slot, to receivers on loopback only. */
  deliverSince(slot: number): void;
  /** Resolves when every delivery has ended. */
  settled(): Promise<void>;
  close(): void;
}

/** Of the last ten deliveries, this many failures disable a webhook (the spec gives no number). */
const countedDeliveries = 10;
const tooManyFailures = 5;

/** @param options added to the two default webhooks: one active, one disabled, both with receivers elsewhere */
export function createWebhooks(world: World, options: readonly WebhookOptions[]): Webhooks {
  const hooks = [...defaultWebhooks(world), ...options.map((option) => completeRecord(world, option))].map(
    (record): Hook => ({ record, outcomes: [], queue: Promise.resolve() }),
  );
  const deliveries: Delivery[] = [];
  const closing = new AbortController();
  return {
    records: () => hooks.map((hook) => ({ ...hook.record })),
    deliveries,
    setActive(webhookID, active) {
      const hook = hooks.find(({ record }) => record.webhookID === webhookID);
      if (hook === undefined) return null;
      hook.record.active = active;
      hook.outcomes.length = 0;
      return { ...hook.record };
    },
    deliverSince(slot) {
      for (const hook of hooks) {
        if (!hook.record.active || !reachesLoopback(hook.record.webhookURL)) continue;
        const bodies = involvedEvents(world, hook.record, slot).map(
          ([wallet, event]) => [event, deliveryBody(world, hook.record, wallet, event)] as const,
        );
        hook.queue = hook.queue.then(async () => {
          for (const [event, body] of bodies) {
            if (!hook.record.active || closing.signal.aborted) return;
            const signature = event.keys.text(event.index);
            const status = await deliver(hook.record, body, closing.signal);
            deliveries.push({ webhookID: hook.record.webhookID, signature, status });
            countOutcome(hook, status);
          }
        });
      }
    },
    settled: async () => {
      await Promise.all(hooks.map((hook) => hook.queue));
    },
    close: () => closing.abort(),
  };
}

interface Hook {
  record: WebhookRecord;
  /** Whether each of the last deliveries arrived, oldest first. */
  outcomes: boolean[];
  queue: Promise<void>;
}

/** Automatic disabling (spec, "States and transitions"). */
function countOutcome(hook: Hook, status: number): void {
  hook.outcomes.push(status >= 200 && status < 300);
  hook.outcomes.splice(0, hook.outcomes.length - countedDeliveries);
  if (hook.outcomes.filter((arrived) => !arrived).length >= tooManyFailures) hook.record.active = false;
}

/** The new transactions of watched wallets, each once, oldest first, with one of its wallets. */
function involvedEvents(world: World, record: WebhookRecord, slot: number): [string, WalletEvent][] {
  const events = new Map<string, [string, WalletEvent]>();
  for (const wallet of record.accountAddresses) {
    for (const event of world.wallets.events(world.owners.find(wallet))) {
      if (event.slot <= slot) break;
      if (wantsType(record, event.type)) events.set(event.keys.text(event.index), [wallet, event]);
    }
  }
  return [...events.values()].sort(([, a], [, b]) => a.slot - b.slot);
}

function wantsType({ webhookType, transactionTypes }: WebhookRecord, type: string): boolean {
  const filtered = webhookType.startsWith('enhanced');
  return !filtered || transactionTypes.includes('ANY') || transactionTypes.includes(type);
}

function reachesLoopback(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.protocol === 'http:' && isLoopback(url.hostname);
}

/** Whether a host name (of a URL, or to listen on) can only be this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A webhook record (spec, "Webhook record"). */
export interface WebhookRecord {
  webhookID: string;
  wallet: string;
  webhookURL: string;
  transactionTypes: string[];
  /** Watched wallets (owners of the world); nothing happens to other addresses. */
  accountAddresses: string[];
  webhookType: 'enhanced' | 'raw' | 'discord' | 'enhancedDevnet' | 'rawDevnet' | 'discordDevnet';
  authHeader?: string;
  active: boolean;
}

/** A webhook as an option of the sandbox; what is left out is as in the first default one. */
export type WebhookOptions = Pick<WebhookRecord, 'webhookID' | 'webhookURL' | 'accountAddresses'> &
  Partial<WebhookRecord>;

/** One active, one disabled; both have receivers elsewhere, so nothing is delivered to them. */
export function defaultWebhooks(world: World): WebhookRecord[] {
  const first = completeRecord(world, {
    webhookID: '3f0c9a52-6d1b-4c8e-9a57-0d2f4b6c8e11',
    webhookURL: 'https://hooks.example/ledger',
    accountAddresses: Array.from({ length: Math.min(3, world.owners.size) }, (_, n) => world.owners.text(n)),
    authHeader: 'Bearer sandbox-secret',
  });
  const second: WebhookRecord = {
    ...first,
    webhookID: 'b2a7d4e0-91c3-4f5a-8b6e-7c1d0e9f2a33',
    webhookType: 'raw',
    active: false,
  };
  delete second.authHeader;
  return [first, second];
}

/** Completes the options of a webhook: by default enhanced, for any type, active. */
export function completeRecord(world: World, options: WebhookOptions): WebhookRecord {
  const wallet = world.owners.text(0);
  return { wallet, transactionTypes: ['ANY'], webhookType: 'enhanced', active: true, ...options };
}

/** One attempt at a delivery; there is no second one. */
export interface Delivery {
  webhookID: string;
  /** The transaction that it reported. */
  signature: string;
  /** HTTP status of the receiver; 0 when it did not answer in time. */
  status: number;
}

const deliveryTimeoutMs = 2000;

/** Posts to the receiver, with the record's authHeader as `authorization`. Returns as `Delivery.status`. */
export async function deliver(record: WebhookRecord, body: string, closing: AbortSignal): Promise<number> {
  const { webhookURL, authHeader } = record;
  try {
    const answer = await fetch(webhookURL, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(authHeader === undefined ? {} : { authorization: authHeader }),
      },
      body,
      // A redirect could lead away from loopback.
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(deliveryTimeoutMs)]),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return 0;
  }
}

/** The body that reports one transaction: a list of one, except for chat messages. */
export function deliveryBody(
  world: World,
  record: WebhookRecord,
  wallet: string,
  event: WalletEvent,
): string {
  const row = historyRecord(world, wallet, event);
  if (record.webhookType.startsWith('enhanced')) return JSON.stringify([{ type: event.type, ...row }]);
  if (record.webhookType.startsWith('discord')) {
    return JSON.stringify({ content: `${event.type} ${row.signature}` });
  }
  const meta = { err: row.error, fee: row.fee * 1e9 };
  const transaction = { signatures: [row.signature] };
  return JSON.stringify([{ blockTime: blockTimeOf(event.slot), slot: event.slot, meta, transaction }]);
}
