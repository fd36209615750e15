import type { KeyRefused } from '../errors.ts';
import type { Transport } from './operation.ts';
import { untilAborted } from './until-aborted.ts';

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

interface State {
  isAnswered: boolean;
  refusal: KeyRefused | null;
  /** Resolves when the request that goes alone has said something; null while none does. */
  first: Promise<void> | null;
}

export function createFirstAnswers(): FirstAnswers {
  const states = new Map<Transport, State>();
  const of = (transport: Transport): State => {
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

function goAlone(state: State): FirstRequest {
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
