import type { FastifyInstance } from 'fastify';
import type { Answer, Refusal } from './answer.ts';
import { type FrontDesk, queryKey } from './front-desk.ts';
import { answerRequest, answerText, errorText, type RpcRequest, readRequest } from './rpc-answer.ts';
import { RpcError } from './rpc-method.ts';
import type { World } from './world.ts';

/** The JSON-RPC interface: `POST /`. */
export function addRpcRoute(app: FastifyInstance, desk: FrontDesk, world: World, pageOnly: boolean): void {
  app.post('/', (request, reply) => {
    const body = typeof request.body === 'string' ? request.body : '';
    const asked = readRequest(body);
    return desk(request, reply, {
      method: asked.method,
      params: asked.params,
      bytes: body.length,
      key: queryKey(request),
      pool: asked.known?.pool ?? 'das',
      refuse: (refusal) => refuse(asked, refusal),
      answer: () => answerFrom(world, asked, pageOnly),
    });
  });
}

function answerFrom(world: World, asked: RpcRequest, pageOnly: boolean): Answer {
  try {
    const result = answerRequest(asked, { world, slot: world.advanceSlot(), pageOnly });
    return { status: 200, body: answerText(asked.id, result) };
  } catch (error) {
    if (error instanceof RpcError) return refuse(asked, error);
    throw error;
  }
}

/** An error of the server itself comes without an id, as from real ones. */
function refuse(asked: RpcRequest, { status, code, message }: Refusal): Answer {
  const body = errorText(status >= 500 ? null : asked.id, { code, message });
  return status >= 500 ? { status, body } : { status, body, error: code };
}
