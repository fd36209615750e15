import type { FastifyRequest } from 'fastify';
import type { Answer, Refusal } from './answer.ts';

/** An answer of a REST interface other than 200. */
export class RestError extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: { error: string; code?: string; details?: object }) {
    super(body.error);
    this.status = status;
    this.body = body;
  }
}

/** 400: names the input and the values that it may have. */
export function badInput(name: string, wanted: string): RestError {
  const details = { field: name, expected: wanted };
  return new RestError(400, { error: `\`${name}\` must be ${wanted}`, code: 'INVALID_INPUT', details });
}

/** The values of a query input: an integer in a range, `true` or `false`, one of some words, or any text. */
export type QueryRule = { min: number; max: number } | 'boolean' | 'string' | readonly string[];

/**
 * Reads the inputs of a query by the rules; the API key may be among them. These are not Fastify's schemas, which
 * take 70 ms to compile at every start and could not check JSON-RPC, whose methods share one route.
 * @throws RestError 400 for an unknown or invalid input
 */
export function readQuery(
  request: FastifyRequest,
  rules: { readonly [name: string]: QueryRule },
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(request.query as Record<string, unknown>)) {
    if (name === 'api-key') continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined || typeof text !== 'string') {
      throw badInput(name, `given once, and one of ${Object.keys(rules).join(', ') || 'nothing'}`);
    }
    read[name] = readInput(name, text, rule);
  }
  return read;
}

function readInput(name: string, text: string, rule: QueryRule): unknown {
  if (rule === 'string') return text;
  if (rule === 'boolean') {
    if (text !== 'true' && text !== 'false') throw badInput(name, 'true or false');
    return text === 'true';
  }
  if (Array.isArray(rule)) {
    if (!rule.includes(text)) throw badInput(name, `one of ${rule.join(', ')}`);
    return text;
  }
  const { min, max } = rule as { min: number; max: number };
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max) throw badInput(name, `from ${min} to ${max}`);
  return number;
}

/** The body as JSON; undefined when it is not JSON. */
export function parseBody(request: FastifyRequest): unknown {
  try {
    return JSON.parse(`${request.body ?? ''}`);
  } catch {
    return undefined;
  }
}

/** A JSON body that is an object with exactly these members. @throws RestError 400 */
export function readBody(request: FastifyRequest, members: readonly string[]): Record<string, unknown> {
  const body = parseBody(request);
  if (body === undefined) throw new RestError(400, { error: 'the body is not JSON' });
  const names = Object.keys(Object(body));
  const fits = names.length === members.length && members.every((name) => names.includes(name));
  if (!fits || Array.isArray(body))
    throw badInput('body', `an object of ${members.join(', ')} and nothing else`);
  return body as Record<string, unknown>;
}

/** The answer that `make` gives, or the one of its RestError. */
export function answerRest(make: () => unknown): Answer {
  try {
    return { status: 200, body: JSON.stringify(make()) };
  } catch (error) {
    if (error instanceof RestError) return { status: error.status, body: JSON.stringify(error.body) };
    throw error;
  }
}

/** A refusal of the front desk, as REST frameworks word it. */
export function refuseRest({ status, message }: Refusal): Answer {
  return { status, body: JSON.stringify({ message, statusCode: status }) };
}
