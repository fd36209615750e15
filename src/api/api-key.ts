import { readFileSync, statSync } from 'node:fs';
import { UsageError } from '../errors.ts';
import { createKeyEcho } from './key-echo.ts';
import type { Transport } from './operation.ts';

/**
 * The API key, closed over: the value has no accessor, so it cannot be logged, inspected or serialised by accident.
 * Only http.ts calls `authorize`, and what that returns goes to the socket and nowhere else.
 */
export interface ApiKey {
  readonly isSet: boolean;
  /** Adds the key where the transport wants it (spec, Authentication): `api-key=` in the query, or a header for wallet. */
  authorize(transport: Transport, target: WireTarget): WireTarget;
  /** True when the bytes repeat the key, in any spelling of KeyEcho. */
  isIn(bytes: Buffer): boolean;
  /** The bytes as text, every occurrence of the key, in any spelling of KeyEcho, replaced by `[key]`. */
  redact(bytes: Buffer, isCut?: boolean): string;
}

/** Path and headers of one request, as they go to the socket. */
export interface WireTarget {
  path: string;
  headers: Record<string, string>;
}

// A shorter "key" (`test`, `sandbox`) is an ordinary word that honest answers contain.
const minSecretLength = 8;
const minRedactedLength = 4;

/**
 * Reads the key from LEDGERLAKE_API_KEY, else from the file LEDGERLAKE_API_KEY_FILE names. An empty variable means unset.
 * @throws UsageError when the file is empty or cannot be read, or the key has characters no header or URL can carry
 */
export function readApiKey(env: NodeJS.ProcessEnv = process.env): ApiKey {
  const direct = env.LEDGERLAKE_API_KEY?.trim() ?? '';
  if (direct !== '') return closeOver(direct);
  const path = env.LEDGERLAKE_API_KEY_FILE?.trim() ?? '';
  return closeOver(path === '' ? '' : readKeyFile(path));
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

function closeOver(value: string): ApiKey {
  if (!/^[\x21-\x7e]*$/.test(value)) {
    throw new UsageError(
      'the API key has spaces or characters outside ASCII',
      'Copy the key again: one line, no quotes, no spaces.',
    );
  }
  const encoded = encodeURIComponent(value);
  const echo = value.length < minRedactedLength ? null : createKeyEcho(value);
  return {
    isSet: value !== '',
    authorize(transport, { path, headers }) {
      if (value === '') return { path, headers };
      if (transport === 'wallet') return { path, headers: { ...headers, 'x-api-key': value } };
      return { path: `${path}${path.includes('?') ? '&' : '?'}api-key=${encoded}`, headers };
    },
    isIn: (bytes) => value.length >= minSecretLength && echo !== null && echo.isIn(bytes),
    redact: (bytes, isCut) => echo?.redact(bytes, isCut) ?? bytes.toString(),
  };
}
