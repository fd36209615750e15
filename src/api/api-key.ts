import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Transport } from '../operations/operation.ts';
import { createKeyEcho } from './key-echo.ts';

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

/** Path and headers of one request. */
export interface WireTarget {
  /** The path of the base URL, without a slash at its end. */
  base?: string;
  /** Below `base`; may carry a query. */
  path: string;
  headers: Record<string, string>;
}

/** Adds the key to a target. Pure. @param key not yet percent-encoded */
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
  const hasKey = marked.split('/').includes(encoded);
  const keyed = marked.includes(keyMark)
    ? marked.replaceAll(keyMark, encoded)
    : hasKey
      ? marked
      : `${marked}/${encoded}`;
  return { path: path === '/' ? keyed : `${keyed}${path}`, headers };
}

/**
 * The API key. Its value is in a closure without an accessor, so it cannot be logged, inspected or serialised by accident.
 * Only http.ts calls `authorize`, and the result goes to the socket and nowhere else.
 */
export interface ApiKey {
  readonly isSet: boolean;
  /** Adds the key where the provider of this interface expects it. */
  authorize(transport: Transport, target: WireTarget): Omit<WireTarget, 'base'>;
  /**
   * The source that a base URL names: scheme, host, port and path, because one host may serve two ledgers by path. Segments of
   * the path that hold the key, or look like another secret, are left out: sources are stored and shown.
   */
  sourceOf(url: string): string;
  /** Whether the bytes contain the key, in any spelling of KeyEcho. */
  isIn(bytes: Buffer): boolean;
  /** The bytes as text, with `[key]` for every occurrence of the key in any spelling of KeyEcho. */
  redact(bytes: Buffer, isCut?: boolean): string;
}

// A shorter key (`test`, `sandbox`) is an ordinary word, which correct answers contain.
const minSecretLength = 8;
const minRedactedLength = 4;

/** A segment of a path: long, with digits among letters, as tokens are and names of ledgers are not. */
const looksSecret = /^(?=(?:.*\d){3})[\w-]{20,}$/;

/** The variables that hold the key or name its file. `.env` files may set them; only this module reads them. */
const keyVariables = ['LEDGERLAKE_API_KEY', 'LEDGERLAKE_API_KEY_FILE'];

export function isKeyVariable(name: string): boolean {
  return keyVariables.includes(name);
}

/** Keys that this process has read. They are remembered because a pipe can be read only once. */
const keysRead: ApiKey[] = [];

/**
 * The environment for a program that must not know the key: without the key's variables, and without those whose value contains
 * it in any spelling, such as a URL it was pasted into.
 */
export function withoutKey(env: NodeJS.ProcessEnv, envFiles: readonly string[] = []): NodeJS.ProcessEnv {
  try {
    if (keysRead.length === 0 && canReadAgain(findKey(env, envFiles))) readApiKey(env, { envFiles });
  } catch {
    // A key that cannot be read cannot be searched for; its variables are left out all the same.
  }
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value = '']) => !isKeyVariable(name) && !keysRead.some((key) => key.isIn(Buffer.from(value))),
    ),
  );
}

/** False for a key from a pipe, which somebody else may have to read. */
function canReadAgain(source: KeySource | null): boolean {
  return source !== null && (source.name === 'LEDGERLAKE_API_KEY' || statSync(keyFileOf(source)).isFile());
}

/** The path that LEDGERLAKE_API_KEY_FILE names, relative to the `.env` file it is in. */
function keyFileOf({ envFile, value }: KeySource): string {
  return envFile === null ? value : resolve(dirname(envFile), value);
}

export interface KeyOptions {
  /** `.env` files; the first wins, and the environment wins over all of them. */
  envFiles?: readonly string[];
  places?: KeyPlaces;
}

/**
 * The variable that holds the key or names its file, and the `.env` file that sets it; null if none does. An empty variable
 * counts as unset, but one in the environment hides those of the `.env` files.
 */
export function findKeyVariable(
  env: NodeJS.ProcessEnv,
  envFiles: readonly string[] = [],
): { name: string; file: string | null } | null {
  const source = findKey(env, envFiles);
  return source === null ? null : { name: source.name, file: source.envFile };
}

interface KeySource {
  /** The variable. */
  name: string;
  /** The `.env` file that sets it; null for the environment. */
  envFile: string | null;
  value: string;
}

function findKey(env: NodeJS.ProcessEnv, envFiles: readonly string[]): KeySource | null {
  for (const envFile of [null, ...envFiles]) {
    const variables = envFile === null ? env : parseEnv(readFileSync(envFile, 'utf8'));
    for (const name of keyVariables) {
      const value = variables[name]?.trim() ?? '';
      if (value !== '') return { name, envFile, value };
    }
    if (keyVariables.some((name) => variables[name] !== undefined)) return null;
  }
  return null;
}

/**
 * Reads the key from LEDGERLAKE_API_KEY, else from the file that LEDGERLAKE_API_KEY_FILE names; both from the environment,
 * else from the first `.env` file that sets one.
 * @throws UsageError when the file is empty or cannot be read, or the key has characters no header or URL can carry
 */
export function readApiKey(
  env: NodeJS.ProcessEnv = process.env,
  { envFiles = [], places = defaultKeyPlaces }: KeyOptions = {},
): ApiKey {
  const source = findKey(env, envFiles);
  if (source === null) return closeOver('', places);
  const isKey = source.name === 'LEDGERLAKE_API_KEY';
  const key = closeOver(isKey ? source.value : readKeyFile(keyFileOf(source)), places);
  keysRead.push(key);
  return key;
}

function readKeyFile(path: string): string {
  let text: string;
  try {
    const kind = statSync(path);
    // A shell may hand over a vault's output as a pipe. `/dev/zero` has no end.
    if (!kind.isFile() && !kind.isFIFO()) throw Object.assign(new Error(), { code: 'no file' });
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new UsageError(
      `cannot read the file LEDGERLAKE_API_KEY_FILE names (${code})`,
      'Check that the file exists and that this user may read it.',
    );
  }
  if (text !== '') return text;
  throw new UsageError(
    'the file LEDGERLAKE_API_KEY_FILE names is empty',
    'Write the key into it, on one line.',
  );
}

function closeOver(value: string, places: KeyPlaces): ApiKey {
  if (!/^[\x21-\x7e]*$/.test(value)) {
    throw new UsageError(
      'the API key has spaces or characters outside ASCII',
      'Copy the key again: one line, no quotes, no spaces.',
    );
  }
  const echo = value.length < minRedactedLength ? null : createKeyEcho(value);
  const isIn = (bytes: Buffer) => value.length >= minSecretLength && echo !== null && echo.isIn(bytes);
  return {
    isSet: value !== '',
    authorize(transport, target) {
      const { base = '', path, headers } = target;
      return value === '' ? { path: base + path, headers } : placeKey(places[transport], target, value);
    },
    sourceOf(url) {
      const { origin, pathname } = new URL(url);
      const isSecret = (segment: string) =>
        /\{key\}|%7Bkey%7D/i.test(segment) ||
        segment === encodeURIComponent(value) ||
        isIn(Buffer.from(segment)) ||
        looksSecret.test(segment);
      return [origin, ...pathname.split('/').filter((one) => one !== '' && !isSecret(one))].join('/');
    },
    isIn,
    redact: (bytes, isCut) => echo?.redact(bytes, isCut) ?? bytes.toString(),
  };
}
