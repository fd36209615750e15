import type { FastifyInstance } from 'fastify';
import type { Answer, Refusal } from './answer.ts';
import { type FrontDesk, queryKey } from './front-desk.ts';
import { type AnswerContext, checkParams, RpcError, type RpcMethod } from './rpc-method.ts';
import { assetMethods } from './rpc-methods-assets.ts';
import { compressionMethods } from './rpc-methods-compression.ts';
import { feeMethods } from './rpc-methods-fees.ts';
import { listMethods } from './rpc-methods-lists.ts';
import { proofMethods } from './rpc-methods-proofs.ts';
import { signatureMethods } from './rpc-methods-signatures.ts';
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

/** A request body as far as it could be read. */
export interface RpcRequest {
  id: unknown;
  method: string;
  params: unknown;
  /** Set when the body is no JSON-RPC request, or names no method of the API. */
  error?: RpcError;
  known?: RpcMethod;
}

const methods: ReadonlyMap<string, RpcMethod> = new Map(
  [assetMethods, listMethods, compressionMethods, signatureMethods, proofMethods, feeMethods]
    .flat()
    .map((method) => [method.name, method]),
);

/** Reads the envelope; what is wrong with it is in `error`, so that the log shows the request anyway. */
export function readRequest(body: string): RpcRequest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { id: null, method: '', params: null, error: new RpcError(-32700, 'Parse error') };
  }
  const { jsonrpc, id = null, method, params = null } = Object(parsed) as Record<string, unknown>;
  const asked = { id, method: typeof method === 'string' ? method : '', params };
  if (Array.isArray(parsed) || jsonrpc !== '2.0' || typeof method !== 'string') {
    return { ...asked, error: new RpcError(-32600, 'Invalid request') };
  }
  const known = methods.get(method);
  return known === undefined
    ? { ...asked, error: new RpcError(-32601, `Method not found: ${method}`) }
    : { ...asked, known };
}

/** The envelope of an answer whose result is already JSON text. */
export function answerText(id: unknown, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** The envelope of an error. */
export function errorText(id: unknown, error: { code: number; message: string }): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: error.code, message: error.message } });
}

/**
 * The result of a request as JSON text.
 * @throws RpcError when the request or its parameters are refused
 */
export function answerRequest(request: RpcRequest, context: AnswerContext): string {
  if (request.error !== undefined) throw request.error;
  const method = request.known as RpcMethod;
  return method.answer(checkParams(method, request.params), context);
}
