import { StoppedEarly } from '../errors.ts';
import { exitStopped, listenForSignals } from '../stop-signals.ts';

/** When the process ends after a signal, wherever it is, ms. */
const exitMs = 9_500;

export interface SignalStop {
  /** Ends waiting at once. */
  stopping: AbortSignal;
  /** Ends everything, requests in flight and statements of the database, when they have had their time. */
  signal: AbortSignal;
  release(): void;
}

/**
 * At a signal to stop nothing more is begun; what was begun has `drainMs`, in which requests that are paid for arrive
 * and a small night is still published. After 10 s, or at a second signal, the process ends: everything that has landed
 * is kept, as after a kill.
 */
export function stopOnSignals(drainMs: number): SignalStop {
  const waits = new AbortController();
  const everything = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const onSignal = (name: NodeJS.Signals) => {
    const stopped = new StoppedEarly(
      `stopped by ${name}`,
      'Run the same command again: it goes on where it stopped.',
    );
    const end = () => {
      // The process cannot end while a statement goes on.
      everything.abort(stopped);
      exitStopped(name);
    };
    if (waits.signal.aborted) end();
    waits.abort(stopped);
    timers.push(
      setTimeout(() => everything.abort(stopped), drainMs).unref(),
      setTimeout(end, exitMs).unref(),
    );
  };
  const stopListening = listenForSignals(onSignal);
  return {
    stopping: waits.signal,
    signal: everything.signal,
    release() {
      timers.forEach(clearTimeout);
      stopListening();
    },
  };
}
