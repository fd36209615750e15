import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** An answer before it is sent. */
export interface Answer {
  status: number;
  body: string;
  headers?: Record<string, string>;
  /** The JSON-RPC error code, when that is the answer. */
  error?: number;
}

/** Why a request is refused; each interface writes its own message. */
export interface Refusal {
  status: number;
  /** JSON-RPC code. */
  code: number;
  message: string;
}

const compress = promisify(gzip);

/** Sends an answer, as JSON unless its headers say otherwise; with gzip if it is large and the client accepts it. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  reply.code(answer.status).headers({ 'content-type': 'application/json; charset=utf-8', ...answer.headers });
  const plain = Buffer.from(answer.body);
  const zipped = plain.length > 1024 && /\bgzip\b/.test(`${request.headers['accept-encoding'] ?? ''}`);
  if (!zipped) return reply.send(plain);
  const body = await compress(plain, { level: constants.Z_BEST_SPEED });
  return reply.header('content-encoding', 'gzip').send(body);
}
