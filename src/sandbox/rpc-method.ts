import type { World } from './world.ts';

/** A JSON-RPC error the API answers with, over HTTP 200 unless `status` says otherwise. */
export class RpcError extends Error {
  readonly code: number;
  readonly status: number;

  constructor(code: number, message: string, status = 200) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** -32602: names the parameter and what it may be. */
export function badParams(message: string): RpcError {
  return new RpcError(-32602, `Invalid params: ${message}`);
}

/** -32000: what servers answer when there is no such thing (the same code as for their own errors). */
export function notFound(message: string): RpcError {
  return new RpcError(-32000, message);
}

/** A word for what a value may be, or a list of the words it may be. */
export type WordRule = 'string' | 'integer' | 'boolean' | 'strings' | readonly string[];

/** What a parameter may be; a record of rules is an object with these members. */
export type ParamRule = WordRule | ListRule | ParamRules;

export interface ParamRules {
  readonly [name: string]: ParamRule;
}

/** A list of objects that have all of these members. */
export class ListRule {
  readonly members: ParamRules;

  constructor(members: ParamRules) {
    this.members = members;
  }
}

/** What a method needs to know besides its parameters. */
export interface AnswerContext {
  world: World;
  /** The slot this answer stands for. */
  slot: number;
  /** Lists never give a cursor, and ignore one they are sent, like the reference server. */
  pageOnly: boolean;
}

/** Requests of one pool share one rate limit. */
export type Pool = 'das' | 'compression' | 'proof' | 'fee' | 'wallet' | 'webhook';

/** One JSON-RPC method: all the server knows about it. */
export interface RpcMethod {
  readonly name: string;
  readonly pool: Pool;
  readonly params: ParamRules;
  /**
   * How `params` come when not as an object: `one-in-array`, an array with that object in it; `list`, an
   * array that is the value of the only parameter.
   */
  readonly form?: 'one-in-array' | 'list';
  readonly required: readonly string[];
  /**
   * The `result` as JSON text; parameters have been checked against the rules, and null ones removed.
   * @throws RpcError
   */
  answer(params: Record<string, unknown>, context: AnswerContext): string;
}
