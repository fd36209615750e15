import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Transport } from '../operations/operation.ts';
import { createKeyEcho } from './key-echo.ts';
import { defaultKeyPlaces, type KeyPlace, type KeyPlaces, keyMark } from './key-place.ts';

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
 * The API key, or the keys where interfaces have their own. The values are in a closure without an accessor, so they cannot be
 * logged, inspected or serialised by accident.
 * Only http.ts calls `authorize`, and the result goes to the socket and nowhere else.
 */
export interface ApiKey {
  readonly isSet: boolean;
  /** Adds the key of an interface where its provider expects it. */
  authorize(transport: Transport, target: WireTarget): Omit<WireTarget, 'base'>;
  /**
   * The source that a base URL names: scheme, host, port and path, because one host may serve two ledgers by path. Segments of
   * the path that hold the key, or look like another secret, are left out: sources are stored and shown.
   */
  sourceOf(url: string): string;
  /** Whether the bytes contain a key, of whichever interface, in any spelling of KeyEcho. */
  isIn(bytes: Buffer): boolean;
  /** The bytes as text, with `[key]` for every occurrence of a key in any spelling of KeyEcho. */
  redact(bytes: Buffer, isCut?: boolean): string;
}

// A shorter key (`test`, `sandbox`) is an ordinary word, which correct answers contain.
const minSecretLength = 8;
const minRedactedLength = 4;

/** A segment of a path: long, with digits among letters, as tokens are and names of ledgers are not. */
const looksSecret = /^(?=(?:.*\d){3})[\w-]{20,}$/;

/** The variables that hold a key or name its file. `.env` files may set them; only this module reads them. */
export function isKeyVariable(name: string): boolean {
  return /^LEDGERLAKE_((RPC|WALLET|WEBHOOK)_)?API_KEY(_FILE)?$/.test(name);
}

const transports = Object.keys(defaultKeyPlaces) as Transport[];

/** Keys that this process has read. They are remembered because a pipe can be read only once. */
const keysRead: ApiKey[] = [];

/**
 * The environment for a program that must not know the key: without the key's variables, and without those whose value contains
 * it in any spelling, such as a URL it was pasted into.
 */
export function withoutKey(env: NodeJS.ProcessEnv, envFiles: readonly string[] = []): NodeJS.ProcessEnv {
  try {
    const sources = transports.flatMap((transport) => findKey(transport, env, envFiles) ?? []);
    if (keysRead.length === 0 && sources.every(canReadAgain)) readApiKey(env, { envFiles });
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
function canReadAgain(source: KeySource): boolean {
  return !namesFile(source) || statSync(keyFileOf(source)).isFile();
}

function namesFile({ name }: KeySource): boolean {
  return name.endsWith('_FILE');
}

/** The path that a variable names, relative to the `.env` file it is in. */
function keyFileOf({ envFile, value }: KeySource): string {
  return envFile === null ? value : resolve(dirname(envFile), value);
}

export interface KeyOptions {
  /** `.env` files; the first wins, and the environment wins over all of them. */
  envFiles?: readonly string[];
  places?: KeyPlaces;
}

/**
 * The variable that holds the key of an interface or names its file, and the `.env` file that sets it; null if none does. An empty variable
 * counts as unset, but one in the environment hides those of the `.env` files.
 */
export function findKeyVariable(
  transport: Transport,
  env: NodeJS.ProcessEnv,
  envFiles: readonly string[] = [],
): { name: string; file: string | null } | null {
  const source = findKey(transport, env, envFiles);
  return source === null ? null : { name: source.name, file: source.envFile };
}

interface KeySource {
  /** The variable. */
  name: string;
  /** The `.env` file that sets it; null for the environment. */
  envFile: string | null;
  value: string;
}

/** An interface's own key, else the one of all interfaces. */
function findKey(
  transport: Transport,
  env: NodeJS.ProcessEnv,
  envFiles: readonly string[],
): KeySource | null {
  const own = `LEDGERLAKE_${transport.toUpperCase()}_API_KEY`;
  return findVariable(own, env, envFiles) ?? findVariable('LEDGERLAKE_API_KEY', env, envFiles);
}

function findVariable(
  variable: string,
  env: NodeJS.ProcessEnv,
  envFiles: readonly string[],
): KeySource | null {
  const names = [variable, `${variable}_FILE`];
  for (const envFile of [null, ...envFiles]) {
    const variables = envFile === null ? env : parseEnv(readFileSync(envFile, 'utf8'));
    for (const name of names) {
      const value = variables[name]?.trim() ?? '';
      if (value !== '') return { name, envFile, value };
    }
    if (names.some((name) => variables[name] !== undefined)) return null;
  }
  return null;
}

/**
 * Reads the key from LEDGERLAKE_API_KEY, else from the file that LEDGERLAKE_API_KEY_FILE names; both from the environment,
 * else from the first `.env` file that sets one. LEDGERLAKE_WALLET_API_KEY and its like, read so too, go before it for their
 * interface.
 * @throws UsageError when the file is empty or cannot be read, or the key has characters no header or URL can carry
 */
export function readApiKey(
  env: NodeJS.ProcessEnv = process.env,
  { envFiles = [], places = defaultKeyPlaces }: KeyOptions = {},
): ApiKey {
  // A file that several interfaces share may be a pipe.
  const read = new Map<string, string>();
  const values = transports.map((transport) => {
    const source = findKey(transport, env, envFiles);
    if (source === null) return [transport, ''] as const;
    const value = read.get(source.name) ?? (namesFile(source) ? readKeyFile(source) : source.value);
    read.set(source.name, value);
    return [transport, value] as const;
  });
  const key = closeOver(Object.fromEntries(values) as Record<Transport, string>, places);
  if (key.isSet) keysRead.push(key);
  return key;
}

function readKeyFile(source: KeySource): string {
  const path = keyFileOf(source);
  let text: string;
  try {
    const kind = statSync(path);
    // A shell may hand over a vault's output as a pipe. `/dev/zero` has no end.
    if (!kind.isFile() && !kind.isFIFO()) throw Object.assign(new Error(), { code: 'no file' });
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new UsageError(
      `cannot read the file ${source.name} names (${code})`,
      'Check that the file exists and that this user may read it.',
    );
  }
  if (text !== '') return text;
  throw new UsageError(`the file ${source.name} names is empty`, 'Write the key into it, on one line.');
}

function closeOver(byTransport: Readonly<Record<Transport, string>>, places: KeyPlaces): ApiKey {
  const values = [...new Set(Object.values(byTransport))].filter((value) => value !== '');
  if (values.some((value) => !/^[\x21-\x7e]*$/.test(value))) {
    throw new UsageError(
      'the API key has spaces or characters outside ASCII',
      'Copy the key again: one line, no quotes, no spaces.',
    );
  }
  // The longest first: one may be a part of another.
  values.sort((a, b) => b.length - a.length);
  const echoesOf = (minLength: number) =>
    values.filter(({ length }) => length >= minLength).map((value) => createKeyEcho(value));
  const [secrets, redacted] = [echoesOf(minSecretLength), echoesOf(minRedactedLength)];
  const isIn = (bytes: Buffer) => secrets.some((echo) => echo.isIn(bytes));
  return {
    isSet: values.length > 0,
    authorize(transport, target) {
      const { base = '', path, headers } = target;
      const value = byTransport[transport];
      return value === '' ? { path: base + path, headers } : placeKey(places[transport], target, value);
    },
    sourceOf(url) {
      const { origin, pathname } = new URL(url);
      const isSecret = (segment: string) =>
        /\{key\}|%7Bkey%7D/i.test(segment) ||
        values.some((value) => segment === encodeURIComponent(value)) ||
        isIn(Buffer.from(segment)) ||
        looksSecret.test(segment);
      return [origin, ...pathname.split('/').filter((one) => one !== '' && !isSecret(one))].join('/');
    },
    isIn,
    redact: (bytes, isCut) =>
      redacted.reduce((clean, echo) => Buffer.from(echo.redact(clean, isCut)), bytes).toString(),
  };
}
