import type { FastifyInstance } from 'fastify';
import { type FrontDesk, queryKey } from './front-desk.ts';
import {
  answerRest,
  badInput,
  parseBody,
  RestError,
  readBody,
  readQuery,
  refuseRest,
} from './rest-request.ts';
import type { Webhooks } from './webhooks.ts';

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** `PATCH /v0/webhooks/{webhookID}` (spec, "Webhook enable or disable"); the key comes in the query only. */
export function addWebhookRoute(app: FastifyInstance, desk: FrontDesk, webhooks: Webhooks): void {
  app.patch('/v0/webhooks/:webhookID', (request, reply) => {
    const { webhookID } = request.params as { webhookID: string };
    const { active } = Object(parseBody(request)) as { active?: unknown };
    return desk(request, reply, {
      method: 'setWebhookActive',
      params: { webhookID, active },
      bytes: request.url.length,
      key: queryKey(request),
      pool: 'webhook',
      refuse: refuseRest,
      answer: () =>
        answerRest(() => {
          readQuery(request, {});
          if (!uuidV4.test(webhookID)) throw badInput('webhookID', 'a UUIDv4');
          readBody(request, ['active']);
          if (typeof active !== 'boolean') throw badInput('active', 'true or false');
          const record = webhooks.setActive(webhookID.toLowerCase(), active);
          if (record === null) throw new RestError(404, { error: 'Webhook not found', code: 'NOT_FOUND' });
          return record;
        }),
    });
  });
}
