import { decodeBase58 } from './base58.ts';
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

/** -32602: names the parameter and the values that it may have. */
export function badParams(message: string): RpcError {
  return new RpcError(-32602, `Invalid params: ${message}`);
}

/** -32000: the answer of servers when something does not exist (the same code as for their own errors). */
export function notFound(message: string): RpcError {
  return new RpcError(-32000, message);
}

/** The type of a value, or a list of the words that it may be. */
export type WordRule = 'string' | 'integer' | 'boolean' | 'strings' | readonly string[];

/** The rule for a parameter; a record of rules is an object with these members. */
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

/** What a method needs in addition to its parameters. */
export interface AnswerContext {
  world: World;
  /** The slot of this answer. */
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

/**
 * Checks parameters as the reference server does: an unknown or mistyped one is refused by name.
 * Returns them as one object, without those that are null (which mean the same as absent ones).
 * @throws RpcError -32602
 */
export function checkParams(method: RpcMethod, params: unknown): Record<string, unknown> {
  const checked = checkObject(unwrap(method, params), method.params, '');
  for (const name of method.required) {
    if (checked[name] === undefined) throw badParams(`missing parameter \`${name}\``);
  }
  return checked;
}

/** The bytes of a base58 key of 32. @throws RpcError -32602 */
export function readKey(text: string, name: string): Uint8Array {
  const bytes = decodeBase58(text, 32);
  if (bytes === null) throw badParams(`\`${name}\` is not a base58 key of 32 bytes`);
  return bytes;
}

function unwrap(method: RpcMethod, params: unknown): unknown {
  if (method.form === undefined) return params ?? {};
  if (!Array.isArray(params)) throw badParams('`params` must be an array');
  if (method.form === 'list') return { [Object.keys(method.params)[0] as string]: params };
  if (params.length !== 1) throw badParams('`params` must hold one object');
  return params[0];
}

function checkObject(
  value: unknown,
  rules: { readonly [name: string]: ParamRule },
  path: string,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badParams(`\`${path === '' ? 'params' : path}\` must be an object`);
  }
  const checked: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const where = path === '' ? name : `${path}.${name}`;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      throw badParams(`unknown parameter \`${where}\`, expected one of ${Object.keys(rules).join(', ')}`);
    }
    if (member !== null) checked[name] = checkValue(member, rule, where);
  }
  return checked;
}

function checkValue(value: unknown, rule: ParamRule, where: string): unknown {
  if (rule instanceof ListRule) return checkList(value, rule, where);
  if (typeof rule === 'object' && !isWordList(rule)) return checkObject(value, rule, where);
  const [fits, wanted] = testWord(value, rule);
  if (!fits) throw badParams(`\`${where}\` must be ${wanted}`);
  return value;
}

function checkList(value: unknown, rule: ListRule, where: string): unknown {
  if (!Array.isArray(value)) throw badParams(`\`${where}\` must be a list`);
  return value.map((item, n) => {
    const member = checkObject(item, rule.members, `${where}[${n}]`);
    const missing = Object.keys(rule.members).find((name) => member[name] === undefined);
    if (missing !== undefined) throw badParams(`missing parameter \`${where}[${n}].${missing}\``);
    return member;
  });
}

function testWord(value: unknown, rule: WordRule) {
  if (isWordList(rule)) return [rule.includes(value as string), `one of ${rule.join(', ')}`] as const;
  if (rule === 'string') return [typeof value === 'string', 'a string'] as const;
  if (rule === 'boolean') return [typeof value === 'boolean', 'a boolean'] as const;
  if (rule === 'integer')
    return [Number.isSafeInteger(value) && (value as number) >= 0, 'an integer'] as const;
  return [
    Array.isArray(value) && value.every((item) => typeof item === 'string'),
    'a list of strings',
  ] as const;
}

function isWordList(rule: ParamRule): rule is readonly string[] {
  return Array.isArray(rule);
}
