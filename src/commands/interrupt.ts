import { StoppedEarly } from '../errors.ts';

/** The first SIGINT or SIGTERM aborts with StoppedEarly (exit 75); a second one ends the process at once. */
export function abortOnSignals(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(75);
    controller.abort(new StoppedEarly(`interrupted by ${name}`, 'Run the same command again.'));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    release() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
