import { StoppedEarly } from '../errors.ts';

export interface BudgetLimits {
  /** Attempts this run may make; null: no limit. */
  maxRequests: number | null;
  /** Credits this run may spend. */
  maxCredits: number | null;
  /** Unix ms after which no attempt is sent. */
  until: number | null;
  /** Credits left of the billing month. */
  monthlyLeft: number | null;
}

export interface Budget {
  /** Counts one attempt before it is sent. @throws StoppedEarly when it may not be */
  takeAttempt(credits: number): void;
  /** Takes back the credits of an attempt that never reached the API. It still counts as an attempt. */
  giveBack(credits: number): void;
  /** Refuses every later attempt, for this reason. */
  stop(reason: string): void;
  readonly spent: { requests: number; credits: number };
}

const continueHint = 'Run the same command again: it continues where it stopped.';

/** Counts what a run spends, and refuses an attempt that would pass a limit. */
export function createBudget(limits: BudgetLimits, now: () => number = Date.now): Budget {
  const spent = { requests: 0, credits: 0 };
  let stopped: string | null = null;
  const refuse = (reason: string, hint = continueHint): never => {
    throw new StoppedEarly(reason, hint);
  };
  const passes = (limit: number | null, value: number) => limit !== null && value > limit;
  return {
    spent,
    stop: (reason) => {
      stopped ??= reason;
    },
    giveBack(credits) {
      spent.credits -= credits;
    },
    takeAttempt(credits) {
      if (stopped !== null) refuse(stopped);
      if (passes(limits.maxRequests, spent.requests + 1))
        refuse(`--max-requests ${limits.maxRequests} is reached`);
      if (passes(limits.maxCredits, spent.credits + credits))
        refuse(
          `--max-credits ${limits.maxCredits} is reached`,
          passes(limits.maxCredits, credits)
            ? `The next request costs ${credits} credits: raise --max-credits, or no run gets further.`
            : continueHint,
        );
      if (passes(limits.monthlyLeft, spent.credits + credits))
        refuse(
          'the monthly credits (api.monthly_credits) are spent',
          'Run again in the next billing period, or raise api.monthly_credits: it continues where it stopped.',
        );
      if (limits.until !== null && now() >= limits.until) refuse('the time given by --until is over');
      spent.requests += 1;
      spent.credits += credits;
    },
  };
}

/** The month's remaining credits, at least 0; null: no limit is configured. */
export function leftOf(monthlyCredits: number | null, spent: number): number | null {
  return monthlyCredits === null ? null : Math.max(0, monthlyCredits - spent);
}

/**
 * Start of the billing month that a moment is in, Unix ms.
 * @param billingDay 1 to 31, UTC; in a shorter month its last day
 */
export function billingPeriodStart(now: Date, billingDay: number): number {
  const startIn = (month: number): number => {
    const lastDay = new Date(Date.UTC(now.getUTCFullYear(), month + 1, 0)).getUTCDate();
    return Date.UTC(now.getUTCFullYear(), month, Math.min(billingDay, lastDay));
  };
  const start = startIn(now.getUTCMonth());
  return start <= now.getTime() ? start : startIn(now.getUTCMonth() - 1);
}
