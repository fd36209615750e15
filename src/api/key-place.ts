import type { Transport } from '../operations/operation.ts';

/** Where a provider expects the key: a member of the query, a header, or the path. */
export type KeyPlace =
  | { in: 'query'; name: string }
  /** `prefix` comes before the key: `Bearer `. */
  | { in: 'header'; name: string; prefix: string }
  | { in: 'path' };

/** By interface. The defaults are the interface documents' (Authentication); `api.auth` changes them. */
export type KeyPlaces = Readonly<Record<Transport, KeyPlace>>;

export const defaultKeyPlaces: KeyPlaces = {
  rpc: { in: 'query', name: 'api-key' },
  wallet: { in: 'header', name: 'x-api-key', prefix: '' },
  webhook: { in: 'query', name: 'api-key' },
};

export const keyPlaceForms = 'query, query:<name>, header:<name>, bearer or path';

/** Marks the position of the key in the path of a URL. Without it the key is appended as the last segment. */
export const keyMark = '{key}';

/** Headers that the HTTP client sets, so that none can carry the key. */
const clientHeaders =
  /^(accept|accept-encoding|connection|content-.*|expect|host|transfer-encoding|upgrade|user-agent)$/i;

/** Reads a value of `api.auth`. Pure. @returns null for another form than `keyPlaceForms` */
export function parseKeyPlace(text: string): KeyPlace | null {
  const [, kind, name] = /^(query|header|bearer|path)(?::([\w!#$%&'*+.^`|~-]+))?$/.exec(text.trim()) ?? [];
  if (kind === 'query' && /^[\w.~-]*$/.test(name ?? '')) return { in: 'query', name: name ?? 'api-key' };
  if (kind === 'header' && name !== undefined && !clientHeaders.test(name))
    return { in: 'header', name: name.toLowerCase(), prefix: '' };
  if (name !== undefined) return null;
  if (kind === 'bearer') return { in: 'header', name: 'authorization', prefix: 'Bearer ' };
  return kind === 'path' ? { in: 'path' } : null;
}

/** Describes a place for people: `query (api-key)`, `header x-api-key`, `path`. */
export function describeKeyPlace(place: KeyPlace): string {
  if (place.in === 'path') return 'path';
  if (place.in === 'query') return `query (${place.name})`;
  return place.prefix === '' ? `header ${place.name}` : 'bearer';
}
