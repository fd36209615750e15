import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import {
  createFrontDesk,
  createReceivedLog,
  type FrontDeskOptions,
  type ReceivedLog,
  type ReceivedRequest,
} from './front-desk.ts';
import { addRpcRoute } from './rpc-routes.ts';
import { addWalletRoutes } from './wallet-routes.ts';
import { addWebhookRoute } from './webhook-routes.ts';
import { createWebhooks, isLoopback, type WebhookOptions, type Webhooks } from './webhooks.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** Options of the sandbox. */
export interface SandboxOptions extends WorldOptions, FrontDeskOptions {
  seed?: number;
  /** TCP port; 0 takes any free one. Default: 0. */
  port?: number;
  /** A loopback address: the sandbox is never served to a network. Default: `127.0.0.1`. */
  host?: string;
  /** Lists never give a cursor and ignore one they are sent. Default: false. */
  pageOnly?: boolean;
  /** Webhooks in addition to the two default ones. Only receivers on loopback get deliveries. */
  webhooks?: readonly WebhookOptions[];
}

/** A running sandbox. */
export interface Sandbox {
  /** `http://<host>:<port>`; all interfaces of the API are served below it. */
  readonly url: string;
  readonly world: World;
  /** Requests received, oldest first (the oldest are dropped after about 16 MB of bodies). */
  readonly requests: ReceivedRequest[];
  /** The webhooks, with their state and deliveries. */
  readonly webhooks: Webhooks;
  /** Moves the content `n` times (default 1), never in the middle of an answer, and starts the webhooks' deliveries. */
  tick(n?: number): void;
  /** Drops open connections and frees the port. */
  close(): Promise<void>;
}

/**
 * Serves a generated ledger over the API of the spec on loopback. `POST /_sandbox/tick {"n":1}` and
 * `GET /_sandbox/requests` are for processes that cannot call `tick` (no key, no limit).
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const host = options.host ?? '127.0.0.1';
  if (!isLoopback(host)) throw new Error(`the sandbox listens on loopback only, not on ${host}`);
  const world = createWorld(options);
  const webhooks = createWebhooks(world, options.webhooks ?? []);
  const log = createReceivedLog();
  const app = Fastify({ logger: false, bodyLimit: 16 * 1024 * 1024, forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const tick = (n = 1) => {
    for (let times = 0; times < n; times += 1) {
      const before = world.slot;
      world.tick();
      webhooks.deliverSince(before);
    }
  };
  const desk = createFrontDesk(log, options);
  addRpcRoute(app, desk, world, options.pageOnly ?? false);
  addWalletRoutes(app, desk, world);
  addWebhookRoute(app, desk, webhooks);
  addControlRoutes(app, { world, log, webhooks, tick });
  await app.listen({ port: options.port ?? 0, host });
  const { address, family, port } = app.server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  const close = async () => {
    webhooks.close();
    await app.close();
  };
  return { url, world, requests: log.entries, webhooks, tick, close };
}

/** The sandbox's own interface, for processes that cannot call it: no key, no limit. */
function addControlRoutes(
  app: FastifyInstance,
  { world, log, webhooks, tick }: Pick<Sandbox, 'world' | 'webhooks' | 'tick'> & { log: ReceivedLog },
): void {
  // Answers after the deliveries, so that the caller sees their effects.
  app.post('/_sandbox/tick', async (request) => {
    const { n = 1 } = JSON.parse((request.body as string | undefined) || '{}') as { n?: number };
    tick(n);
    await webhooks.settled();
    return { ticks: world.ticks, slot: world.slot };
  });
  app.get('/_sandbox/requests', async () => log.entries);
}
