import type { World } from './world.ts';

/** A webhook record (spec, "Webhook record"). */
export interface WebhookRecord {
  webhookID: string;
  wallet: string;
  webhookURL: string;
  transactionTypes: string[];
  /** Watched wallets (owners of the world); other addresses are never involved in anything here. */
  accountAddresses: string[];
  webhookType: 'enhanced' | 'raw' | 'discord' | 'enhancedDevnet' | 'rawDevnet' | 'discordDevnet';
  authHeader?: string;
  active: boolean;
}

/** A webhook as an option of the sandbox; what is left out is as in the first default one. */
export type WebhookOptions = Pick<WebhookRecord, 'webhookID' | 'webhookURL' | 'accountAddresses'> &
  Partial<WebhookRecord>;

/** One active, one disabled, both with receivers elsewhere: nothing is ever delivered to them. */
export function defaultWebhooks(world: World): WebhookRecord[] {
  const first = fillIn(world, {
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

/** A record of the options: enhanced, for any type, active, unless they say otherwise. */
export function fillIn(world: World, options: WebhookOptions): WebhookRecord {
  const wallet = world.owners.text(0);
  return { wallet, transactionTypes: ['ANY'], webhookType: 'enhanced', active: true, ...options };
}
