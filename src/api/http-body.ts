import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { constants, createGunzip } from 'node:zlib';

/**
 * Why there is no answer to judge.
 * - `unreachable`: no connection (refused, DNS, TLS)
 * - `broken`: the connection or the encoding broke off
 * - `timeout`: the deadline passed
 * - `too_big`: more decoded bytes than allowed
 * - `aborted`: the caller's signal
 */
export type HttpFailureReason = 'unreachable' | 'broken' | 'timeout' | 'too_big' | 'aborted';

/** A request that got no complete answer. Built from an error code only: causes of the HTTP stack may hold the URL. */
export class HttpFailure extends Error {
  readonly reason: HttpFailureReason;
  /** Bytes received on the wire before it failed. */
  readonly bytes: number;

  constructor(reason: HttpFailureReason, message: string, bytes: number) {
    super(message);
    this.name = 'HttpFailure';
    this.reason = reason;
    this.bytes = bytes;
  }
}

interface Encoded {
  headers: Record<string, string | string[] | undefined>;
  body: Readable;
}

/** Where a body goes, and how large it may be. */
interface Receipt {
  /** `bytes` counts what arrived on the wire, also when it fails. */
  wire: { bytes: number };
  /** Most decoded bytes. */
  maxBytes: number;
  /** Gives the decoded body its place in the memory that all bodies share; that of a whole one is the caller's to release. */
  enter(decoded: Readable): BodyPlace;
}

/**
 * Reads a whole body, decoding gzip on the way.
 * @throws HttpFailure `too_big` as soon as more than maxBytes were decoded, `broken` for another encoding
 */
export async function readBody(answer: Encoded, { wire, maxBytes, enter }: Receipt): Promise<Buffer> {
  const encoding = String(answer.headers['content-encoding'] ?? 'identity').toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity') {
    answer.body.on('error', () => {}).destroy();
    throw new HttpFailure('broken', 'encoded in a way that was not asked for', wire.bytes);
  }
  answer.body.on('data', (chunk: Buffer) => {
    wire.bytes += chunk.length;
  });
  const chunks: Buffer[] = [];
  let decoded = 0;
  const source = isGzip ? gunzip(answer.body) : answer.body;
  const place = enter(source);
  source.on('data', (chunk: Buffer) => {
    decoded += chunk.length;
    chunks.push(chunk);
    place.take(chunk.length);
    if (decoded > maxBytes)
      source.destroy(new HttpFailure('too_big', `more than ${maxBytes} bytes`, wire.bytes));
  });
  try {
    await finished(source, { writable: false });
    place.received();
  } catch (error) {
    place.release();
    throw error;
  } finally {
    // Leaving early must close the socket: an unread body would hold its connection for ever.
    answer.body.destroy();
    source.destroy();
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, decoded);
}

function gunzip(body: Readable): Readable {
  const decoder = createGunzip({ chunkSize: 256 * 1024, finishFlush: constants.Z_FINISH });
  body.on('error', (error) => decoder.destroy(error));
  return body.pipe(decoder);
}

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Turns whatever the HTTP stack threw into a HttpFailure that keeps its code and nothing else. */
export function asHttpFailure(error: unknown, bytes: number): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = errorCode(error);
  const isTls = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
  if (unreachableCodes.has(code) || isTls) {
    return new HttpFailure('unreachable', `no connection (${code})`, bytes);
  }
  return new HttpFailure('broken', `the connection broke off (${code})`, bytes);
}

function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : 'unknown';
}

/** The place of one body. */
export interface BodyPlace {
  /** Counts what came. */
  take(bytes: number): void;
  /** It is whole, and waits for its page to be kept. */
  received(): void;
  /** Nobody needs it any more. */
  release(): void;
}

/** Memory that the bodies of all answers share, from their first byte until their pages are kept. */
export interface BodyRoom {
  /** @param onWait told when the body begins to wait for others, and when it goes on: its sender is not slow meanwhile */
  enter(body: Readable, onWait: (waits: boolean) => void): BodyPlace;
}

interface Receiving {
  body: Readable;
  waits: boolean;
  onWait(waits: boolean): void;
}

/**
 * Where all bodies together pass `maxBytes`, those that are being received wait. The oldest of them goes on as soon as
 * no page waits to be kept, so that waiting ends however large they are.
 */
export function createBodyRoom(maxBytes: number): BodyRoom {
  // In the order in which they began.
  const receiving = new Set<Receiving>();
  let held = 0;
  let unkept = 0;
  const settle = () => {
    const [oldest] = receiving;
    for (const one of receiving) {
      const waits = held > maxBytes && (one !== oldest || unkept > 0);
      if (waits === one.waits) continue;
      one.waits = waits;
      one.onWait(waits);
      if (waits) one.body.pause();
      else one.body.resume();
    }
  };
  return {
    enter(body, onWait) {
      const one: Receiving = { body, waits: false, onWait };
      let own = 0;
      receiving.add(one);
      const place: BodyPlace = {
        take(bytes) {
          own += bytes;
          held += bytes;
          if (held > maxBytes) settle();
        },
        received() {
          receiving.delete(one);
          unkept += 1;
          settle();
        },
        release() {
          if (!receiving.delete(one)) unkept -= 1;
          held -= own;
          settle();
          // A second time it gives back nothing.
          place.release = () => {};
        },
      };
      return place;
    },
  };
}
