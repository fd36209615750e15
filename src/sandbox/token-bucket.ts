/** A rate limit: `rps` requests a second on average, up to `burst` at once. */
export interface TokenBucket {
  /** Takes one token: 0 when there was one, else the whole seconds until there is (Retry-After). */
  take(nowMs: number): number;
}

/** @param rps 0 means no limit  @param burst bucket size, at least 1 */
export function createTokenBucket(rps: number, burst: number): TokenBucket {
  const size = Math.max(1, burst);
  let tokens = size;
  let filledAt: number | null = null;
  return {
    take(nowMs) {
      if (rps <= 0) return 0;
      tokens = Math.min(size, tokens + ((nowMs - (filledAt ?? nowMs)) / 1000) * rps);
      filledAt = nowMs;
      if (tokens < 1) return Math.max(1, Math.ceil((1 - tokens) / rps));
      tokens -= 1;
      return 0;
    },
  };
}
