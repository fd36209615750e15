import { StoppedEarly } from '../errors.ts';
import { exitStopped, listenForSignals } from '../stop-signals.ts';

/** The first signal to stop aborts with StoppedEarly (exit 75); a second one ends the process at once. */
export function abortOnSignals(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) exitStopped(name);
    controller.abort(new StoppedEarly(`interrupted by ${name}`, 'Run the same command again.'));
  };
  const release = listenForSignals(onSignal);
  return { signal: controller.signal, release };
}
