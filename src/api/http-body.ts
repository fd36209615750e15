import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { constants, createGunzip } from 'node:zlib';

/**
 * Why a request got no complete answer.
 * - `unreachable`: no connection (refused, DNS, TLS)
 * - `broken`: the connection broke off, or the encoding is wrong
 * - `timeout`: the deadline passed
 * - `too_big`: more decoded bytes than allowed
 * - `aborted`: the caller's signal aborted
 */
export type HttpFailureReason = 'unreachable' | 'broken' | 'timeout' | 'too_big' | 'aborted';

/** A request that got no complete answer. It holds an error code and no cause, because causes may hold the URL. */
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

interface ReadOptions {
  /** `bytes` is increased by the bytes received on the wire, also when reading fails. */
  wire: { bytes: number };
  /** Decoded bytes at most. */
  maxBytes: number;
  /** Reserves memory for the decoded body. The caller releases that of a body that was read whole. */
  reserve(decoded: Readable): Reservation;
}

/**
 * Reads a whole body, decoding gzip on the way.
 * @throws HttpFailure `too_big` as soon as more than maxBytes were decoded, `broken` for another encoding
 */
export async function readBody(answer: Encoded, { wire, maxBytes, reserve }: ReadOptions): Promise<Buffer> {
  const encoding = String(answer.headers['content-encoding'] ?? 'identity').toLowerCase();
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'identity') {
    answer.body.on('error', () => {}).destroy();
    throw new HttpFailure('broken', 'the answer has an encoding that was not requested', wire.bytes);
  }
  answer.body.on('data', (chunk: Buffer) => {
    wire.bytes += chunk.length;
  });
  const chunks: Buffer[] = [];
  let decoded = 0;
  const source = isGzip ? gunzip(answer.body) : answer.body;
  const reservation = reserve(source);
  source.on('data', (chunk: Buffer) => {
    decoded += chunk.length;
    chunks.push(chunk);
    reservation.grow(chunk.length);
    if (decoded > maxBytes)
      source.destroy(new HttpFailure('too_big', `more than ${maxBytes} bytes`, wire.bytes));
  });
  try {
    await finished(source, { writable: false });
    reservation.received();
  } catch (error) {
    reservation.release();
    throw error;
  } finally {
    // Close the socket when leaving early: an unread body would hold its connection for ever.
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

/** Turns an error of the HTTP stack into a HttpFailure with its code and nothing else. */
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

/** The memory of one body. */
export interface Reservation {
  /** Counts more bytes. */
  grow(bytes: number): void;
  /** Records that the body is whole and its page waits to be stored. */
  received(): void;
  /** Frees the memory; a second call does nothing. */
  release(): void;
}

/** Memory that the bodies of all answers share, from their first byte until their pages are stored. */
export interface BodyMemory {
  /** @param onWait called with true when the body begins to wait for others, and with false when it continues */
  reserve(body: Readable, onWait: (waits: boolean) => void): Reservation;
}

interface Receiving {
  body: Readable;
  waits: boolean;
  onWait(waits: boolean): void;
}

/**
 * While all bodies together exceed `maxBytes`, those being received wait. The oldest continues as soon as no page waits to be
 * stored, so that waiting ends however large the bodies are.
 */
export function createBodyMemory(maxBytes: number): BodyMemory {
  // In the order in which they began.
  const receiving = new Set<Receiving>();
  let usedBytes = 0;
  let unstored = 0;
  const updateWaiting = () => {
    const [oldest] = receiving;
    for (const entry of receiving) {
      const waits = usedBytes > maxBytes && (entry !== oldest || unstored > 0);
      if (waits === entry.waits) continue;
      entry.waits = waits;
      entry.onWait(waits);
      if (waits) entry.body.pause();
      else entry.body.resume();
    }
  };
  return {
    reserve(body, onWait) {
      const entry: Receiving = { body, waits: false, onWait };
      let bodyBytes = 0;
      receiving.add(entry);
      const reservation: Reservation = {
        grow(bytes) {
          bodyBytes += bytes;
          usedBytes += bytes;
          if (usedBytes > maxBytes) updateWaiting();
        },
        received() {
          receiving.delete(entry);
          unstored += 1;
          updateWaiting();
        },
        release() {
          if (!receiving.delete(entry)) unstored -= 1;
          usedBytes -= bodyBytes;
          updateWaiting();
          reservation.release = () => {};
        },
      };
      return reservation;
    },
  };
}
