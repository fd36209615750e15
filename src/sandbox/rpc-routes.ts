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
    const rpc = readRequest(body);
    return desk(request, reply, {
      method: rpc.method,
      params: rpc.params,
      bytes: body.length,
      key: queryKey(request),
      pool: rpc.handler?.pool ?? 'das',
      refuse: (refusal) => refuse(rpc, refusal),
      answer: () => answerFrom(world, rpc, pageOnly),
    });
  });
}

function answerFrom(world: World, rpc: RpcRequest, pageOnly: boolean): Answer {
  try {
    const result = answerRequest(rpc, { world, slot: world.advanceSlot(), pageOnly });
    return { status: 200, body: answerText(rpc.id, result) };
  } catch (error) {
    if (error instanceof RpcError) return refuse(rpc, error);
    throw error;
  }
}

/** An error of the server itself comes without an id, as from real ones. */
function refuse(rpc: RpcRequest, { status, code, message }: Refusal): Answer {
  const body = errorText(status >= 500 ? null : rpc.id, { code, message });
  return status >= 500 ? { status, body } : { status, body, error: code };
}

/** A request body as far as it could be read. */
export interface RpcRequest {
  id: unknown;
  method: string;
  params: unknown;
  /** Set when the body is not a JSON-RPC request, or the method does not exist. */
  error?: RpcError;
  handler?: RpcMethod;
}

const methods: ReadonlyMap<string, RpcMethod> = new Map(
  [assetMethods, listMethods, compressionMethods, signatureMethods, proofMethods, feeMethods]
    .flat()
    .map((method) => [method.name, method]),
);

/** Reads the envelope; a mistake goes into `error`, so that the request can still be logged. */
export function readRequest(body: string): RpcRequest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { id: null, method: '', params: null, error: new RpcError(-32700, 'Parse error') };
  }
  const { jsonrpc, id = null, method, params = null } = Object(parsed) as Record<string, unknown>;
  const rpc = { id, method: typeof method === 'string' ? method : '', params };
  if (Array.isArray(parsed) || jsonrpc !== '2.0' || typeof method !== 'string') {
    return { ...rpc, error: new RpcError(-32600, 'Invalid request') };
  }
  const handler = methods.get(method);
  return handler === undefined
    ? { ...rpc, error: new RpcError(-32601, `Method not found: ${method}`) }
    : { ...rpc, handler };
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
  const method = request.handler as RpcMethod;
  return method.answer(checkParams(method, request.params), context);
}
