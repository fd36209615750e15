/** One request the API was asked, for tests that count them. */
export interface ReceivedRequest {
  /** JSON-RPC method; '' when the body named none. */
  method: string;
  params: unknown;
  /** HTTP status; 0 when the connection was reset by a fault. */
  status: number;
  /** The JSON-RPC error code, when that was the answer. */
  error?: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Keeps what was asked, oldest first, within a budget of request bytes. */
export interface ReceivedLog {
  /** The log itself: always the same array. */
  readonly entries: ReceivedRequest[];
  add(entry: ReceivedRequest, bytes: number): void;
}

/** @param maxBytes request bodies kept; the oldest tenth goes when it is exceeded */
export function createReceivedLog(maxBytes = 16 * 1024 * 1024): ReceivedLog {
  const entries: ReceivedRequest[] = [];
  const sizes: number[] = [];
  let total = 0;
  return {
    entries,
    add(entry, bytes) {
      entries.push(entry);
      sizes.push(bytes);
      total += bytes;
      if (total <= maxBytes) return;
      const dropped = Math.ceil(entries.length / 10);
      entries.splice(0, dropped);
      for (const size of sizes.splice(0, dropped)) total -= size;
    },
  };
}
