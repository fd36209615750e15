import type { KeyRefused } from '../errors.ts';
import type { Pool, Transport } from '../operations/operation.ts';
import type { ApiKey } from './api-key.ts';
import type { OutcomeKind } from './classify.ts';
import type { Http } from './http.ts';
import type { LimiterConfig } from './limiter.ts';
import type { Breaker, RetryBudget } from './retry.ts';
import { type AnswerClock, type Timing, untilAborted } from './timing.ts';

export interface ClientOptions {
  /** Base URLs; https only, except loopback. */
  endpoints: Partial<Record<Transport, string>>;
  /** Known limits by pool; a pool without rps finds its own (loopback: none until the first throttle). */
  limits: Partial<Record<Pool, LimiterConfig>>;
  /** Credits a call by operation, where they differ from the catalogue's. */
  credits: Record<string, number>;
  /** One deadline for a whole answer, ms; 60,000 is a good value. */
  timeoutMs: number;
  /** api.param_names: operation → our parameter name → the provider's. */
  paramNames: Record<string, Record<string, string>>;
  /** Asked before every attempt; throws StoppedEarly when the run may not spend more. */
  budget?: { takeAttempt(credits: number): void; giveBack(credits: number): void };
  /** Told of every attempt that was sent, whatever came of it. @param share who asked, the job; empty: nobody said */
  onAttempt(entry: AttemptEntry, share: string): void;
  userAgent: string;
  /** The server has no limit to find out: pools without `rps` begin at full speed. Default: false. */
  unlimited?: boolean;
  /** Ends everything: waiting, sending, receiving. */
  signal?: AbortSignal;
  /** Ends waiting, for a turn, a retry or a probe; what is in flight goes on. */
  stopping?: AbortSignal;
  /** What `learntRates()` of an earlier run returned. */
  learntRates?: Partial<Record<Pool, number>>;
}

/** One attempt, as `data/requests.ndjson` keeps it. */
export interface AttemptEntry {
  /** ISO time it was sent. */
  at: string;
  operation: string;
  pool: Pool;
  credits: number;
  outcome: OutcomeKind | 'unreachable' | 'timeout' | 'aborted';
  status: number | null;
  latencyMs: number;
  /** Bytes of the body on the wire. */
  bytes: number;
  /** From 1. */
  attempt: number;
}

/** Everything the attempts of one client share. */
export interface ClientState {
  options: ClientOptions;
  key: ApiKey;
  http: Http;
  timing: Timing;
  retryBudget: RetryBudget;
  breaker: Breaker;
  firstAnswers: FirstAnswers;
  /** What the last attempt that was not answered ended with, in words without the key, by pool. */
  lastFailures: Map<Pool, string>;
  clock: AnswerClock;
  /** Ends waiting. */
  waitSignal: AbortSignal | undefined;
  nextId(): string;
}

/**
 * Lets the first request of each interface go alone until it is answered, whatever the answer: a wrong key then costs one
 * request, and an address where nobody listens one request's attempts. All others wait for it once in a process.
 */
export interface FirstAnswers {
  /**
   * Resolves when a request may go: with null, or for the one that goes alone, with what it has to tell.
   * @throws the refusal that the first one met; the signal's abort reason
   */
  enter(transport: Transport, signal?: AbortSignal): Promise<FirstRequest | null>;
}

export interface FirstRequest {
  /** The others may go. */
  answered(): void;
  /** No other will go. */
  refused(error: KeyRefused): void;
  /** It has ended: unless it was answered or refused, another goes alone. */
  ended(): void;
}

interface FirstState {
  isAnswered: boolean;
  refusal: KeyRefused | null;
  /** Resolves when the request that goes alone has said something; null while none does. */
  first: Promise<void> | null;
}

export function createFirstAnswers(): FirstAnswers {
  const states = new Map<Transport, FirstState>();
  const of = (transport: Transport): FirstState => {
    const state = states.get(transport) ?? { isAnswered: false, refusal: null, first: null };
    states.set(transport, state);
    return state;
  };
  return {
    async enter(transport, signal) {
      const state = of(transport);
      while (!state.isAnswered) {
        signal?.throwIfAborted();
        if (state.refusal !== null) throw state.refusal;
        if (state.first === null) return goAlone(state);
        await untilAborted(state.first, signal);
      }
      return null;
    },
  };
}

function goAlone(state: FirstState): FirstRequest {
  let say = () => {};
  state.first = new Promise((resolve) => {
    say = resolve;
  });
  return {
    answered() {
      state.isAnswered = true;
      say();
    },
    refused(error) {
      state.refusal = error;
      say();
    },
    ended() {
      state.first = null;
      say();
    },
  };
}
