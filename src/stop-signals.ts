/** What asks a process to stop: Ctrl-C, a scheduler, a terminal that closes. */
const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Calls `onSignal` at each of them. @returns ends that */
export function listenForSignals(onSignal: (name: NodeJS.Signals) => void): () => void {
  for (const name of names) process.on(name, onSignal);
  return () => {
    for (const name of names) process.off(name, onSignal);
  };
}

/** Ends the process at once, as stopped early: what is durable stays, as after a kill. */
export function exitStopped(name: NodeJS.Signals): never {
  process.stderr.write(
    `ledgerlake: stopped by ${name}\n  Run the same command again: it goes on where it stopped.\n`,
  );
  process.exit(75);
}

/** Does so while nothing else listens: before a command's work begins, and in those that can be cut anywhere. */
export function exitOnSignals(): void {
  listenForSignals((name) => {
    if (process.listenerCount(name) === 1) exitStopped(name);
  });
}
