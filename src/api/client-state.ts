import type { KeyRefused } from '../errors.ts';
import type { Pool, Transport } from '../operations/operation.ts';
import type { ApiKey } from './api-key.ts';
import type { OutcomeKind } from './classify.ts';
import type { Http } from './http.ts';
import type { LimiterConfig } from './limiter.ts';
import type { Breaker, RetryBudget } from './retry.ts';
import { type AnswerClock, type Timing, untilAborted } from './timing.ts';

export interface ClientOptions {
  /** Base URLs: https only, except loopback. */
  endpoints: Partial<Record<Transport, string>>;
  /** Limits by pool, as the plan states them; the rate of a pool without `rps` is found. */
  limits: Partial<Record<Pool, LimiterConfig>>;
  /** Credits per call by operation, where they differ from the catalogue's. */
  credits: Record<string, number>;
  /** One deadline for the whole answer, ms. */
  timeoutMs: number;
  /** api.param_names: operation → our parameter name → the provider's. */
  paramNames: Record<string, Record<string, string>>;
  /** `takeAttempt` is called before every attempt; it throws StoppedEarly when the run may not spend more. */
  budget?: { takeAttempt(credits: number): void; giveBack(credits: number): void };
  /** Called after every attempt, with the `requester` of its request. */
  onAttempt(entry: AttemptEntry, requester: string): void;
  userAgent: string;
  /** The server has no limit to be found: pools without `rps` begin at full speed. Default: false. */
  unlimited?: boolean;
  /** Ends everything: waiting, sending, receiving. */
  signal?: AbortSignal;
  /** Ends waiting for a turn, a retry or a probe. Requests in flight continue. */
  stopping?: AbortSignal;
  /** `learntRates()` of an earlier run. */
  learntRates?: Partial<Record<Pool, number>>;
}

/** One attempt, as `data/requests.ndjson` records it. */
export interface AttemptEntry {
  /** ISO time at which it was sent. */
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

/** Held by a client and shared by its requests. */
export interface ClientState {
  options: ClientOptions;
  key: ApiKey;
  http: Http;
  timing: Timing;
  retryBudget: RetryBudget;
  breaker: Breaker;
  gate: FirstRequestGate;
  /** By pool: how the last attempt without an answer ended, for people, without the key. */
  lastFailures: Map<Pool, string>;
  clock: AnswerClock;
  /** Aborts with either `signal` or `stopping`. */
  waitSignal: AbortSignal | undefined;
  nextId(): string;
}

/**
 * Lets one request of each interface through alone until one is answered, with success or not. A wrong key then costs one
 * request, and an address where nobody listens the attempts of one. The others wait, once in a process.
 */
export interface FirstRequestGate {
  /**
   * Resolves when a request may be sent: with null, or with a pass if it is sent alone.
   * @throws the KeyRefused of the first request; the signal's abort reason
   */
  enter(transport: Transport, signal?: AbortSignal): Promise<GatePass | null>;
}

/** Held by the request that is sent alone. It has to call `ended`. */
export interface GatePass {
  /** Opens the gate. */
  answered(): void;
  /** Closes the gate to all others. */
  refused(error: KeyRefused): void;
  /** Gives the pass back: if the gate is neither open nor closed, the next request is sent alone. */
  ended(): void;
}

interface GateState {
  isOpen: boolean;
  refusal: KeyRefused | null;
  /** Resolves when the pass was used; null while nobody holds it. */
  passUsed: Promise<void> | null;
}

export function createFirstRequestGate(): FirstRequestGate {
  const states = new Map<Transport, GateState>();
  const stateOf = (transport: Transport): GateState => {
    const state = states.get(transport) ?? { isOpen: false, refusal: null, passUsed: null };
    states.set(transport, state);
    return state;
  };
  return {
    async enter(transport, signal) {
      const state = stateOf(transport);
      while (!state.isOpen) {
        signal?.throwIfAborted();
        if (state.refusal !== null) throw state.refusal;
        if (state.passUsed === null) return issuePass(state);
        await untilAborted(state.passUsed, signal);
      }
      return null;
    },
  };
}

function issuePass(state: GateState): GatePass {
  let wakeUp = () => {};
  state.passUsed = new Promise((resolve) => {
    wakeUp = resolve;
  });
  return {
    answered() {
      state.isOpen = true;
      wakeUp();
    },
    refused(error) {
      state.refusal = error;
      wakeUp();
    },
    ended() {
      state.passUsed = null;
      wakeUp();
    },
  };
}
