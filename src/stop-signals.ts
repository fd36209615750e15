import { StoppedEarly } from './errors.ts';
import { printFailure } from './json-output.ts';

/** Signals to stop: Ctrl-C, a scheduler, a terminal that closes. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const hint = 'Run the same command again: what it had done is kept.';

/** Time after a signal at which the process exits, whatever it does, ms. */
const exitMs = 9_500;

/** Time for the database to interrupt its statements before the process exits, ms. */
const interruptMs = 300;

/** Calls `onSignal` at each signal to stop. @returns a function that ends this */
export function listenForSignals(onSignal: (name: NodeJS.Signals) => void): () => void {
  for (const name of signals) process.on(name, onSignal);
  return () => {
    for (const name of signals) process.off(name, onSignal);
  };
}

/** Exits immediately as stopped early; everything durable stays, as after a kill. */
function exitStopped(name: NodeJS.Signals): never {
  process.stderr.write(`ledgerlake: stopped by ${name}\n  ${hint}\n`);
  printFailure(new StoppedEarly(`stopped by ${name}`, hint), 75);
  process.exit(75);
}

/** Exits at a signal while nothing else listens: before a command's work, and in commands without a database. */
export function exitOnSignals(): void {
  listenForSignals((name) => {
    if (process.listenerCount(name) === 1) exitStopped(name);
  });
}

export interface SignalStop {
  /** Aborted at the signal: waiting ends, and nothing new begins. */
  stopping: AbortSignal;
  /** Aborted after the time to drain: ends requests in flight and statements of the database. */
  signal: AbortSignal;
  release(): void;
}

/**
 * Stops at a signal. Nothing new begins; what was begun has `drainMs`, in which requests that are paid for are answered
 * and a small night is still published. After 10 s, or at a second signal, the process exits: everything that has landed
 * is kept, as after a kill.
 */
export function stopOnSignals(drainMs: number): SignalStop {
  const drain = createDrain(drainMs);
  const stopListening = listenForSignals((name) => {
    const end = () => {
      // The process cannot exit while a statement runs.
      drain.abort();
      drain.after(interruptMs, () => exitStopped(name));
    };
    if (drain.stopping.aborted) return end();
    drain.begin(new StoppedEarly(`stopped by ${name}`, hint));
    drain.after(exitMs, end);
  });
  return {
    stopping: drain.stopping,
    signal: drain.signal,
    release() {
      drain.release();
      stopListening();
    },
  };
}

/** Stops at the abort of a caller's signal, as `stopOnSignals`, but the process is the caller's and never exits. */
export function stopOnAbort(signal: AbortSignal | undefined, drainMs: number): SignalStop {
  const drain = createDrain(drainMs);
  const onAbort = () => drain.begin(new StoppedEarly('stopped by the AbortSignal', hint));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    stopping: drain.stopping,
    signal: drain.signal,
    release() {
      drain.release();
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** Aborts `stopping` at `begin`, and `signal` `drainMs` later or at `abort`. */
function createDrain(drainMs: number) {
  const stopping = new AbortController();
  const everything = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number, work: () => void) => timers.push(setTimeout(work, ms).unref());
  const abort = () => everything.abort(stopping.signal.reason);
  return {
    stopping: stopping.signal,
    signal: everything.signal,
    after,
    abort,
    begin(reason: StoppedEarly) {
      stopping.abort(reason);
      after(drainMs, abort);
    },
    release: () => timers.forEach(clearTimeout),
  };
}

/** Does work with nothing to drain: the first signal to stop aborts it with StoppedEarly (exit 75). */
export async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopOnSignals(0);
  try {
    return await work(stop.signal);
  } finally {
    stop.release();
  }
}
