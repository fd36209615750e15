import { UsageError } from '../errors.ts';
import type { HttpRequest } from './http.ts';
import type { Operation } from './operation.ts';

/** Parameters by the spec's names; `undefined` members are left out. */
export type Params = Record<string, unknown>;

/**
 * Builds the request of one attempt. Pure.
 * JSON-RPC: the envelope of the spec with this id. REST: the path filled, the other parameters as query or body.
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

/** Members of an object parameter are renamed too: `options.priorityLevel` names one. */
function rename(params: Params, renames: Record<string, string>, below = ''): Params {
  const entries = Object.entries(params).map(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const path = `${below}${name}`;
    return [renames[path] ?? name, isObject ? rename(value as Params, renames, `${path}.`) : value];
  });
  return Object.fromEntries(entries);
}

/** Two methods take an array on the wire (spec, Request envelope); callers always give an object. */
function wrapParams(method: string, params: Params): unknown {
  if (method === 'getPriorityFeeEstimate') return [params];
  if (method !== 'getMultipleNewAddressProofsV2') return params;
  return Array.isArray(params.addresses) ? params.addresses : [params];
}

function pathSegment(operation: string, name: string, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  // Dots survive percent-encoding, and servers resolve them: `..` would be another endpoint.
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
