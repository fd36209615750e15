import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Transport } from '../operations/operation.ts';
import { createKeyEcho } from './key-echo.ts';

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

/**
 * The API key, closed over: the value has no accessor, so it cannot be logged, inspected or serialised by accident.
 * Only http.ts calls `authorize`, and what that returns goes to the socket and nowhere else.
 */
export interface ApiKey {
  readonly isSet: boolean;
  /** Adds the key where the provider of this interface wants it. */
  authorize(transport: Transport, target: WireTarget): Omit<WireTarget, 'base'>;
  /** True when the bytes repeat the key, in any spelling of KeyEcho. */
  isIn(bytes: Buffer): boolean;
  /** The bytes as text, every occurrence of the key, in any spelling of KeyEcho, replaced by `[key]`. */
  redact(bytes: Buffer, isCut?: boolean): string;
}

// A shorter "key" (`test`, `sandbox`) is an ordinary word that honest answers contain.
const minSecretLength = 8;
const minRedactedLength = 4;

/** Variables whose value is the key, or says where it is. `.env` files may set them; only this module reads them. */
const keyVariables = ['LEDGERLAKE_API_KEY', 'LEDGERLAKE_API_KEY_FILE'];

export function isKeyVariable(name: string): boolean {
  return keyVariables.includes(name);
}

/** Keys that this process has read: what hands it over may be a pipe, which is read once. */
const keysRead: ApiKey[] = [];

/**
 * The environment for a program that is not to know the key: without the variables that say it, and without those whose
 * value holds it in any spelling, such as a URL it was pasted into.
 */
export function withoutKey(env: NodeJS.ProcessEnv, envFiles: readonly string[] = []): NodeJS.ProcessEnv {
  try {
    if (keysRead.length === 0 && isReadTwice(findKey(env, envFiles))) readApiKey(env, { envFiles });
  } catch {
    // Of a key that cannot be read nothing more is known than its variables.
  }
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value = '']) => !isKeyVariable(name) && !keysRead.some((key) => key.isIn(Buffer.from(value))),
    ),
  );
}

function isReadTwice(found: ReturnType<typeof findKey>): boolean {
  return found !== null && (found.name === 'LEDGERLAKE_API_KEY' || statSync(keyFileOf(found)).isFile());
}

/** Relative to the `.env` file that names it. */
function keyFileOf({ file, value }: NonNullable<ReturnType<typeof findKey>>): string {
  return file === null ? value : resolve(dirname(file), value);
}

export interface KeyOptions {
  /** `.env` files, the first wins; the environment wins over all of them. */
  envFiles?: readonly string[];
  places?: KeyPlaces;
}

/**
 * The variable that the key would be read from, and the `.env` file it stands in; null: none is set. An empty variable
 * means unset, except that one of the environment hides those of the `.env` files.
 */
export function findKeyVariable(
  env: NodeJS.ProcessEnv,
  envFiles: readonly string[] = [],
): { name: string; file: string | null } | null {
  const found = findKey(env, envFiles);
  return found === null ? null : { name: found.name, file: found.file };
}

function findKey(env: NodeJS.ProcessEnv, envFiles: readonly string[]) {
  for (const file of [null, ...envFiles]) {
    const variables = file === null ? env : parseEnv(readFileSync(file, 'utf8'));
    for (const name of keyVariables) {
      const value = variables[name]?.trim() ?? '';
      if (value !== '') return { name, file, value };
    }
    if (keyVariables.some((name) => variables[name] !== undefined)) return null;
  }
  return null;
}

/**
 * Reads the key from LEDGERLAKE_API_KEY, else from the file LEDGERLAKE_API_KEY_FILE names: of the environment, else of the
 * first `.env` file that has one of them.
 * @throws UsageError when the file is empty or cannot be read, or the key has characters no header or URL can carry
 */
export function readApiKey(
  env: NodeJS.ProcessEnv = process.env,
  { envFiles = [], places = defaultKeyPlaces }: KeyOptions = {},
): ApiKey {
  const found = findKey(env, envFiles);
  if (found === null) return closeOver('', places);
  const isKey = found.name === 'LEDGERLAKE_API_KEY';
  const key = closeOver(isKey ? found.value : readKeyFile(keyFileOf(found)), places);
  keysRead.push(key);
  return key;
}

function readKeyFile(path: string): string {
  let text: string;
  try {
    const kind = statSync(path);
    // A pipe may be a shell's way to hand over what a vault says; `/dev/zero` has no end.
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
  return {
    isSet: value !== '',
    authorize(transport, target) {
      const { base = '', path, headers } = target;
      return value === '' ? { path: base + path, headers } : placeKey(places[transport], target, value);
    },
    isIn: (bytes) => value.length >= minSecretLength && echo !== null && echo.isIn(bytes),
    redact: (bytes, isCut) => echo?.redact(bytes, isCut) ?? bytes.toString(),
  };
}
