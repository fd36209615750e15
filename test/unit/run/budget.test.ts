import { describe, expect, test } from 'vitest';
import { StoppedEarly } from '../../../src/errors.ts';
import { type BudgetLimits, billingPeriodStart, createBudget } from '../../../src/run/budget.ts';

const none: BudgetLimits = { maxRequests: null, maxCredits: null, until: null, monthlyLeft: null };

/** Attempts of these credits that are let through, and why the next is not. */
function spend(limits: Partial<BudgetLimits>, credits: number, most = 10) {
  const budget = createBudget({ ...none, ...limits }, () => 1000);
  for (let n = 0; n < most; n += 1) {
    try {
      budget.takeAttempt(credits);
    } catch (error) {
      expect(error).toBeInstanceOf(StoppedEarly);
      return { spent: budget.spent, reason: (error as Error).message };
    }
  }
  return { spent: budget.spent, reason: null };
}

describe('a budget', () => {
  test.each<[string, Partial<BudgetLimits>, number, number, RegExp | null]>([
    ['none', {}, 10, 10, null],
    ['requests', { maxRequests: 3 }, 10, 3, /--max-requests 3/],
    ['no request at all', { maxRequests: 0 }, 10, 0, /--max-requests 0/],
    ['credits, exactly', { maxCredits: 30 }, 10, 3, /--max-credits 30/],
    ['credits, never passed', { maxCredits: 39 }, 10, 3, /--max-credits 39/],
    ['the month', { monthlyLeft: 25 }, 10, 2, /monthly/],
    ['a month that is overspent already', { monthlyLeft: -5 }, 1, 0, /monthly/],
    ['time, over', { until: 1000 }, 1, 0, /--until/],
    ['time, not over', { until: 1001 }, 1, 10, null],
    ['the first that is reached', { maxRequests: 5, maxCredits: 20 }, 10, 2, /--max-credits/],
  ])('%s', (_, limits, credits, requests, reason) => {
    const { spent, reason: said } = spend(limits, credits);
    expect(spent).toEqual({ requests, credits: requests * credits });
    if (reason === null) expect(said).toBe(null);
    else expect(said).toMatch(reason);
  });

  test('credits below the price of one request: running again is no way on', () => {
    expect(() => createBudget({ ...none, maxCredits: 5 }).takeAttempt(10)).toThrow(
      expect.objectContaining({
        hint: 'The next request costs 10 credits: raise --max-credits, or no run gets further.',
      }),
    );
  });

  test('stopped: nothing more, the first reason counts', () => {
    const budget = createBudget(none);
    budget.takeAttempt(1);
    budget.stop('stopped by SIGTERM');
    budget.stop('stopped by SIGINT');
    expect(() => budget.takeAttempt(1)).toThrow('stopped by SIGTERM');
    expect(budget.spent).toEqual({ requests: 1, credits: 1 });
  });
});

test.each([
  ['2026-03-15T12:00:00Z', 1, '2026-03-01T00:00:00.000Z'],
  ['2026-03-15T12:00:00Z', 15, '2026-03-15T00:00:00.000Z'],
  ['2026-03-14T23:59:59Z', 15, '2026-02-15T00:00:00.000Z'],
  ['2026-01-05T00:00:00Z', 28, '2025-12-28T00:00:00.000Z'],
  ['2026-01-30T23:59:59Z', 31, '2025-12-31T00:00:00.000Z'],
  ['2026-01-31T00:00:00Z', 31, '2026-01-31T00:00:00.000Z'],
  ['2026-02-27T23:59:59Z', 31, '2026-01-31T00:00:00.000Z'],
  ['2026-02-28T00:00:00Z', 31, '2026-02-28T00:00:00.000Z'],
  ['2026-03-30T12:00:00Z', 31, '2026-02-28T00:00:00.000Z'],
  ['2028-02-28T12:00:00Z', 30, '2028-01-30T00:00:00.000Z'],
  ['2028-02-29T12:00:00Z', 30, '2028-02-29T00:00:00.000Z'],
  ['2026-04-30T00:00:00Z', 31, '2026-04-30T00:00:00.000Z'],
  ['2026-05-01T00:00:00+14:00', 31, '2026-04-30T00:00:00.000Z'],
])('the billing month of %s that begins on the %ith', (now, day, start) =>
  expect(new Date(billingPeriodStart(new Date(now), day)).toISOString()).toBe(start),
);
