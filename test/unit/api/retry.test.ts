import { describe, expect, test } from 'vitest';
import { createRetryBudget, decideRetry, type Failure } from '../../../src/api/retry.ts';

const failure = (overrides: Partial<Failure> = {}): Failure => ({
  kind: 'server',
  retryAfterMs: null,
  ...overrides,
});

describe('decideRetry', () => {
  test('full jitter below a doubling bound, four attempts in all', () => {
    const delays = [1, 2, 3, 4].map((attempt) => decideRetry(failure(), attempt, 0.5, true));
    expect(delays).toEqual([
      { retry: true, delayMs: 125, holdMs: 0 },
      { retry: true, delayMs: 250, holdMs: 0 },
      { retry: true, delayMs: 500, holdMs: 0 },
      { retry: false, because: 'attempts' },
    ]);
  });

  test('Retry-After is a floor, holds the pool, and jitter goes upward only', () => {
    const throttled = failure({ kind: 'throttled', retryAfterMs: 3_000 });
    expect(decideRetry(throttled, 1, 0, true)).toEqual({ retry: true, delayMs: 3_000, holdMs: 3_000 });
    expect(decideRetry(throttled, 1, 0.5, true)).toEqual({ retry: true, delayMs: 4_500, holdMs: 3_000 });
    const zero = failure({ kind: 'throttled', retryAfterMs: 0 });
    expect(decideRetry(zero, 1, 0.5, true)).toEqual({ retry: true, delayMs: 125, holdMs: 0 });
  });

  test('more than 15 minutes are not waited for', () => {
    const decide = (retryAfterMs: number) => decideRetry(failure({ retryAfterMs }), 1, 0, true);
    expect(decide(900_000)).toEqual({ retry: true, delayMs: 900_000, holdMs: 900_000 });
    expect(decide(900_001)).toEqual({ retry: false, because: 'wait_too_long' });
    expect(decide(1e12)).toEqual({ retry: false, because: 'wait_too_long' });
  });

  test.each(['throttled', 'try_again', 'server', 'node_behind', 'unreachable', 'timeout'] as const)(
    '%s may pass: tried again',
    (kind) => {
      expect(decideRetry(failure({ kind }), 1, 0, true)).toMatchObject({ retry: true });
    },
  );

  test.each(['credits_gone', 'key_refused', 'forbidden', 'no_data', 'rejected', 'too_big'] as const)(
    '%s will not pass: final',
    (kind) => {
      expect(decideRetry(failure({ kind }), 1, 0, true)).toEqual({
        retry: false,
        because: 'final',
      });
    },
  );

  test("a gateway's 504 is tried once more, then the crawl asks for less", () => {
    const gateway = failure({ kind: 'slow' });
    expect(decideRetry(gateway, 1, 0, true)).toMatchObject({ retry: true });
    expect(decideRetry(gateway, 2, 0, true)).toEqual({ retry: false, because: 'attempts' });
  });

  test('nothing is tried again without budget', () => {
    expect(decideRetry(failure(), 1, 0, false)).toEqual({ retry: false, because: 'budget' });
  });
});

test('the budget: retries stay within 10 % of first attempts + 20', () => {
  const budget = createRetryBudget();
  let retries = 0;
  for (let first = 1; first <= 1_000; first += 1) {
    budget.countFirstAttempt();
    for (let attempt = 2; attempt <= 4 && budget.mayRetry(); attempt += 1) {
      budget.countRetry();
      retries += 1;
    }
    expect(retries).toBeLessThanOrEqual(first / 10 + 20);
  }
  expect(retries).toBe(120);
});
