import { StoppedEarly } from './errors.ts';
import { printFailure } from './json-output.ts';

/** What asks a process to stop: Ctrl-C, a scheduler, a terminal that closes. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const hint = 'Run the same command again: what it had done is kept.';

/** When the process ends after a signal, wherever it is, ms. */
const exitMs = 9_500;

/** How long statements of the database may take to be interrupted before the process ends, ms. */
const interruptMs = 300;

/** Calls `onSignal` at each of them. @returns ends that */
export function listenForSignals(onSignal: (name: NodeJS.Signals) => void): () => void {
  for (const name of names) process.on(name, onSignal);
  return () => {
    for (const name of names) process.off(name, onSignal);
  };
}

/** Ends the process at once, as stopped early: what is durable stays, as after a kill. */
function exitStopped(name: NodeJS.Signals): never {
  process.stderr.write(`ledgerlake: stopped by ${name}\n  ${hint}\n`);
  printFailure(new StoppedEarly(`stopped by ${name}`, hint), 75);
  process.exit(75);
}

/** Does so while nothing else listens: before a command's work begins, and in those that ask no database. */
export function exitOnSignals(): void {
  listenForSignals((name) => {
    if (process.listenerCount(name) === 1) exitStopped(name);
  });
}

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
  const drain = createDrain(drainMs);
  const stopListening = listenForSignals((name) => {
    const end = () => {
      // The process cannot end while a statement goes on.
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

/** As a signal to the process would, without listening for one: the process is the caller's, and goes on. */
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

/** Ends waiting at `begin`, and everything `drainMs` later or at `abort`. */
function createDrain(drainMs: number) {
  const waits = new AbortController();
  const everything = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const after = (ms: number, work: () => void) => timers.push(setTimeout(work, ms).unref());
  const abort = () => everything.abort(waits.signal.reason);
  return {
    stopping: waits.signal,
    signal: everything.signal,
    after,
    abort,
    begin(reason: StoppedEarly) {
      waits.abort(reason);
      after(drainMs, abort);
    },
    release: () => timers.forEach(clearTimeout),
  };
}

/** Does what has nothing to drain: `work` is aborted by the first signal to stop, with StoppedEarly (exit 75). */
export async function untilStopped<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = stopOnSignals(0);
  try {
    return await work(stop.signal);
  } finally {
    stop.release();
  }
}
