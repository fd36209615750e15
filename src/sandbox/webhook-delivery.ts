import type { WalletEvent } from './wallet-events.ts';
import { historyRecord } from './wallet-records.ts';
import type { WebhookRecord } from './webhook-record.ts';
import type { World } from './world.ts';
import { blockTimeOf } from './world-signatures.ts';

/** One delivery that was tried; there is no second try. */
export interface Delivery {
  webhookID: string;
  /** The transaction it told of. */
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

/** What a webhook of this type is told of one transaction: a list of one, except for chat messages. */
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
