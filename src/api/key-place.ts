import type { Transport } from './operation.ts';

/** Where a provider wants the key: a member of the query, a header, or the path. */
export type KeyPlace =
  | { in: 'query'; name: string }
  /** `prefix` stands before the key: `Bearer `. */
  | { in: 'header'; name: string; prefix: string }
  | { in: 'path' };

/** By interface; what the interface documents say (Authentication) unless `api.auth` says otherwise. */
export type KeyPlaces = Readonly<Record<Transport, KeyPlace>>;

export const defaultKeyPlaces: KeyPlaces = {
  rpc: { in: 'query', name: 'api-key' },
  wallet: { in: 'header', name: 'x-api-key', prefix: '' },
  webhook: { in: 'query', name: 'api-key' },
};

export const keyPlaceForms = 'query, query:<name>, header:<name>, bearer or path';

/** Stands in the path of a URL where the key goes; without it the key is the last segment. */
export const keyMark = '{key}';

/** Headers that are the request's own. */
const refusedHeaders =
  /^(accept|accept-encoding|connection|content-.*|expect|host|transfer-encoding|upgrade|user-agent)$/i;

/** Reads a value of `api.auth`. Pure. @returns null for what is none of `keyPlaceForms` */
export function parseKeyPlace(text: string): KeyPlace | null {
  const [, kind, name] = /^(query|header|bearer|path)(?::([\w!#$%&'*+.^`|~-]+))?$/.exec(text.trim()) ?? [];
  if (kind === 'query' && /^[\w.~-]*$/.test(name ?? '')) return { in: 'query', name: name ?? 'api-key' };
  if (kind === 'header' && name !== undefined && !refusedHeaders.test(name))
    return { in: 'header', name: name.toLowerCase(), prefix: '' };
  if (name !== undefined) return null;
  if (kind === 'bearer') return { in: 'header', name: 'authorization', prefix: 'Bearer ' };
  return kind === 'path' ? { in: 'path' } : null;
}

/** `query (api-key)`, `header x-api-key`, `path`: for people. */
export function describeKeyPlace(place: KeyPlace): string {
  if (place.in === 'path') return 'path';
  if (place.in === 'query') return `query (${place.name})`;
  return place.prefix === '' ? `header ${place.name}` : 'bearer';
}

/** Path and headers of one request, as they go to the socket. */
export interface WireTarget {
  /** The path of the interface's URL, without a slash at its end. */
  base?: string;
  /** Below `base`; may carry a query. */
  path: string;
  headers: Record<string, string>;
}

/** The target with the key in its place. Pure. @param key as it is; percent-encoded here where it has to be */
export function placeKey(
  place: KeyPlace,
  { base = '', path, headers }: WireTarget,
  key: string,
): Required<Omit<WireTarget, 'base'>> {
  if (place.in === 'header')
    return { path: base + path, headers: { ...headers, [place.name]: `${place.prefix}${key}` } };
  const encoded = encodeURIComponent(key);
  if (place.in === 'query')
    return { path: `${base}${path}${path.includes('?') ? '&' : '?'}${place.name}=${encoded}`, headers };
  // `URL` has percent-encoded the braces of the mark.
  const marked = base.replace(/%7Bkey%7D/gi, keyMark);
  const isThere = marked.split('/').includes(encoded);
  const keyed = marked.includes(keyMark)
    ? marked.replaceAll(keyMark, encoded)
    : isThere
      ? marked
      : `${marked}/${encoded}`;
  return { path: path === '/' ? keyed : `${keyed}${path}`, headers };
}
