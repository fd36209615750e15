import { StoppedEarly } from '../errors.ts';
import type { Budget } from './budget.ts';

/** How long requests that are already paid for may take after a signal, ms. */
const drainMs = 10_000;

/**
 * SIGINT or SIGTERM: nothing more is asked, what is in flight may still arrive for 10 s. A second one ends the
 * process at once: everything that has landed is kept, as after a kill.
 */
export function stopOnSignals(budget: Budget): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (name: NodeJS.Signals) => {
    if (timer !== undefined) process.exit(75);
    budget.stop(`stopped by ${name}`);
    timer = setTimeout(
      () =>
        controller.abort(
          new StoppedEarly(`stopped by ${name}`, 'Run the same command again: it goes on where it stopped.'),
        ),
      drainMs,
    ).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
