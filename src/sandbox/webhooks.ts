import { isLoopback } from './loopback.ts';
import type { WalletEvent } from './wallet-events.ts';
import { type Delivery, deliver, deliveryBody } from './webhook-delivery.ts';
import { defaultWebhooks, fillIn, type WebhookOptions, type WebhookRecord } from './webhook-record.ts';
import type { World } from './world.ts';

export interface Webhooks {
  /** As they are now. */
  records(): WebhookRecord[];
  /** Every delivery that was tried, oldest first. */
  readonly deliveries: Delivery[];
  /** Enables or disables one; null for an unknown id. Enabling forgets earlier failures. */
  setActive(webhookID: string, active: boolean): WebhookRecord | null;
  /** Begins to deliver the transactions of watched wallets above a slot, to receivers on loopback only. */
  deliverSince(slot: number): void;
  /** Resolves when everything that was begun has been delivered, or given up. */
  settled(): Promise<void>;
  close(): void;
}

/** Of the last ten deliveries, this many failures disable a webhook (the spec gives no number). */
const judgedDeliveries = 10;
const tooManyFailures = 5;

/** @param options added to the two default webhooks: one active, one disabled, both with receivers elsewhere */
export function createWebhooks(world: World, options: readonly WebhookOptions[]): Webhooks {
  const hooks = [...defaultWebhooks(world), ...options.map((one) => fillIn(world, one))].map(
    (record): Hook => ({ record, outcomes: [], queue: Promise.resolve() }),
  );
  const deliveries: Delivery[] = [];
  const closing = new AbortController();
  return {
    records: () => hooks.map((hook) => ({ ...hook.record })),
    deliveries,
    setActive(webhookID, active) {
      const hook = hooks.find((one) => one.record.webhookID === webhookID);
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
            judge(hook, status);
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
function judge(hook: Hook, status: number): void {
  hook.outcomes.push(status >= 200 && status < 300);
  hook.outcomes.splice(0, hook.outcomes.length - judgedDeliveries);
  if (hook.outcomes.filter((arrived) => !arrived).length >= tooManyFailures) hook.record.active = false;
}

/** Each transaction once, oldest first, with the first of the watched wallets it involves. */
function involvedEvents(world: World, record: WebhookRecord, slot: number): [string, WalletEvent][] {
  const found = new Map<string, [string, WalletEvent]>();
  for (const wallet of record.accountAddresses) {
    for (const event of world.wallets.events(world.owners.find(wallet))) {
      if (event.slot <= slot) break;
      if (wantsType(record, event.type)) found.set(event.keys.text(event.index), [wallet, event]);
    }
  }
  return [...found.values()].sort(([, a], [, b]) => a.slot - b.slot);
}

function wantsType({ webhookType, transactionTypes }: WebhookRecord, type: string): boolean {
  const filtered = webhookType.startsWith('enhanced');
  return !filtered || transactionTypes.includes('ANY') || transactionTypes.includes(type);
}

function reachesLoopback(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.protocol === 'http:' && isLoopback(url.hostname);
}
