import * as z from 'zod';
import type { Operation } from './operation.ts';

/** A webhook's id (spec, "Webhook enable or disable"). */
export const webhookId = z
  .string()
  .regex(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
    'expected a UUIDv4 such as 3f0c9a52-6d1b-4c8e-9a57-0d2f4b6c8e11',
  );

/** Webhook management: REST, pool `webhook`. It changes something, so no job may call it. */
export const webhookOperations: readonly Operation[] = [
  {
    name: 'setWebhookActive',
    describe: 'Enable or disable a webhook; also enables one that was disabled automatically',
    transport: 'webhook',
    rest: { method: 'PATCH', path: '/v0/webhooks/{webhookID}' },
    params: z.strictObject({
      webhookID: webhookId.describe('The webhook'),
      active: z.boolean().describe('true enables, false disables'),
    }),
    paging: 'none',
    limit: null,
    records: { path: [], form: 'single' },
    secretMember: { name: 'authHeader', flag: 'has_auth_header' },
    slotAt: [],
    pool: 'webhook',
    credits: 100,
    shape: 'webhook',
    table: 'webhooks',
  },
];
