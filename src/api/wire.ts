import { isUtf8 } from 'node:buffer';
import { UsageError } from '../errors.ts';
import type { Operation, Params } from '../operations/operation.ts';
import type { HttpRequest } from './http.ts';

/**
 * Builds the request of one attempt. Pure.
 * JSON-RPC: the envelope with this id. REST: the path is filled, the other parameters are the query or the body.
 *
 * @param renames api.param_names of the operation: our name → the provider's
 * @throws UsageError when a path parameter is missing or would change the path
 */
export function encodeRequest(
  operation: Operation,
  params: Params,
  renames: Record<string, string>,
  id: string,
): Pick<HttpRequest, 'transport' | 'method' | 'path' | 'body'> {
  const { transport, rest } = operation;
  if (!rest) {
    const wireParams = wrapParams(operation.name, rename(params, renames));
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: operation.name, params: wireParams });
    return { transport, method: 'POST', path: '/', body };
  }
  const others = { ...params };
  const path = rest.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    delete others[name];
    return pathSegment(operation.name, name, params[name]);
  });
  const named = rename(others, renames);
  if (rest.method !== 'GET') return { transport, method: rest.method, path, body: JSON.stringify(named) };
  const query = encodeQuery(named);
  return { transport, method: 'GET', path: query === '' ? path : `${path}?${query}` };
}

/** Renames parameters, and members of those that are objects (`options.priorityLevel`). */
function rename(params: Params, renames: Record<string, string>, parent = ''): Params {
  const entries = Object.entries(params).map(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const path = `${parent}${name}`;
    return [renames[path] ?? name, isObject ? rename(value as Params, renames, `${path}.`) : value];
  });
  return Object.fromEntries(entries);
}

/** Two methods take an array on the wire (spec, Request envelope). Callers always give an object. */
function wrapParams(method: string, params: Params): unknown {
  if (method === 'getPriorityFeeEstimate') return [params];
  if (method !== 'getMultipleNewAddressProofsV2') return params;
  return Array.isArray(params.addresses) ? params.addresses : [params];
}

function pathSegment(operation: string, name: string, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  // Dots survive percent-encoding and servers resolve them, so `..` would be another endpoint.
  if (text === '' || text === '.' || text === '..') {
    throw new UsageError(`${operation} needs "${name}"`, `Give the parameter "${name}" a value.`);
  }
  return encodeURIComponent(text);
}

function encodeQuery(params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item === undefined || item === null) continue;
      query.append(name, typeof item === 'object' ? JSON.stringify(item) : String(item));
    }
  }
  return query.toString();
}

/**
 * Takes a secret out of an answer before anything reads it. A member of that name, at any depth and in any spelling
 * (`authHeader`, `auth_header`, with escapes), becomes `"<flag>":true`, or false if it was empty. Every other byte stays.
 * A body that begins like JSON but is not is dropped whole, because it cannot be searched.
 */
export function dropSecretMember(body: Buffer, secret: { name: string; flag: string }): Buffer {
  const text = isUtf8(body) ? body.toString('utf8') : '';
  if (/^\s*[^\s{["\uFEFF]/.test(text)) return body;
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return Buffer.alloc(0);
  }
  return Buffer.from(replaceMembers(text, secret));
}

/** @param text valid JSON */
function replaceMembers(text: string, { name, flag }: { name: string; flag: string }): string {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
  const parts: string[] = [];
  let copied = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [key] = match;
    if (!key.startsWith('"') || !isNamed(key, name) || !/^\s*:/.test(text.slice(token.lastIndex))) continue;
    const keyEnd = token.lastIndex;
    token.exec(text);
    const [valueStart, valueEnd] = skipValue(text, token);
    const isEmpty = /^(null|""|false)$/.test(text.slice(valueStart, valueEnd));
    parts.push(text.slice(copied, match.index), JSON.stringify(flag), text.slice(keyEnd, valueStart));
    parts.push(String(!isEmpty));
    copied = valueEnd;
  }
  return parts.join('') + text.slice(copied);
}

function isNamed(key: string, name: string): boolean {
  const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, '');
  return plain(JSON.parse(key) as string) === plain(name);
}

/** Skips the value whose first token comes next. @returns the offsets of its start and end */
function skipValue(text: string, token: RegExp): [start: number, end: number] {
  let start = -1;
  let depth = 0;
  do {
    const match = token.exec(text);
    if (match === null) throw new Error('a value ends before the text');
    if (start === -1) start = match.index;
    if (/^[{[]/.test(match[0])) depth += 1;
    else if (/^[}\]]/.test(match[0])) depth -= 1;
  } while (depth > 0);
  return [start, token.lastIndex];
}

/** The error that an answer reports. */
export interface ErrorBody {
  /** As sent; '' without one. */
  message: string;
  code: number | null;
}

/** Finds the error in a body of any form: JSON-RPC, `{error, code}`, `{message, statusCode}`, plain text, HTML. */
export function readErrorBody(text: string): ErrorBody {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    const body = parseObject(trimmed);
    return body === null ? { message: '', code: null } : errorOf(body);
  }
  if (trimmed.startsWith('[')) return { message: '', code: null };
  if (trimmed.startsWith('<')) {
    const title = /<title>([^<]*)<\/title>/i.exec(trimmed)?.[1]?.trim();
    return { message: title ? `an HTML page: ${title}` : 'an HTML page', code: null };
  }
  return { message: trimmed, code: null };
}

/** Null for text that is not an object, or is cut: nothing in it can be trusted, because records may hold any words. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : null;
  } catch {
    return null;
  }
}

/** The error in an envelope or an error's body. */
export function errorOf(body: Record<string, unknown>): ErrorBody {
  const inner = isObject(body.error) ? body.error : body;
  const words = [inner.message, inner.error, inner.details].filter((word) => typeof word === 'string');
  return {
    message: [...new Set(words)].join(': '),
    code: Number.isInteger(inner.code) ? (inner.code as number) : null,
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error bodies of the wallet interface. They have no other members. */
const walletErrors = [
  { required: ['error'], optional: ['code', 'details'] },
  { required: ['message', 'statusCode'], optional: ['error'] },
];

/** Whether a body is an error of the wallet interface itself. A gateway's 404 is not. */
export function isWalletError(text: string): boolean {
  const body = parseObject(text) ?? {};
  const keys = Object.keys(body);
  return walletErrors.some(
    ({ required, optional }) =>
      required.every((key) => key in body) && keys.every((key) => [...required, ...optional].includes(key)),
  );
}
