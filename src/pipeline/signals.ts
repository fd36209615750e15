import { StoppedEarly } from '../errors.ts';
import { listenForSignals } from '../stop-signals.ts';
import type { Budget } from './budget.ts';

/** How long requests that are already paid for may take after a signal, ms. */
const drainMs = 10_000;

export interface SignalStop {
  /** Ends waiting at once. */
  stopping: AbortSignal;
  /** Ends everything, when what was in flight has had its time. */
  signal: AbortSignal;
  release(): void;
}

/**
 * At a signal to stop nothing more is asked, what is in flight may still arrive for 10 s. A second one ends the
 * process at once: everything that has landed is kept, as after a kill.
 */
export function stopOnSignals(budget: Budget): SignalStop {
  const waits = new AbortController();
  const everything = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    if (timer !== undefined) process.exit(75);
    const reason = `stopped by ${name}`;
    budget.stop(reason);
    const stopped = new StoppedEarly(reason, 'Run the same command again: it goes on where it stopped.');
    waits.abort(stopped);
    timer = setTimeout(() => everything.abort(stopped), drainMs).unref();
  };
  const stopListening = listenForSignals(onSignal);
  return {
    stopping: waits.signal,
    signal: everything.signal,
    release() {
      clearTimeout(timer);
      stopListening();
    },
  };
}
