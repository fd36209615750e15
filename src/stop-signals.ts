/** What asks a process to stop: Ctrl-C, a scheduler, a terminal that closes. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `onSignal` at each of them. @returns ends that */
export function listenForSignals(onSignal: (name: NodeJS.Signals) => void): () => void {
  for (const name of names) process.on(name, onSignal);
  return () => {
    for (const name of names) process.off(name, onSignal);
  };
}

/**
 * Ends the process at once, as stopped early, while nothing else listens: before a command's work begins, and in those
 * that can be cut anywhere.
 */
export function exitOnSignals(): void {
  listenForSignals((name) => {
    if (process.listenerCount(name) === 1) process.exit(75);
  });
}
