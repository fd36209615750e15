import { asDiskError, isOutOfMemory, LedgerlakeError } from '../errors.ts';
import { visibleLines } from './visible-text.ts';

/** Prints a failure once, with what to do about it, and returns the exit code. */
export function reportFailure(failure: unknown): number {
  const error = asDiskError(failure);
  if (error instanceof LedgerlakeError) {
    process.stderr.write(`ledgerlake: ${visibleLines(error.message)}\n  ${visibleLines(error.hint)}\n`);
    return error.exitCode;
  }
  if (isOutOfMemory(error)) {
    process.stderr.write(
      `ledgerlake: ${error.message.split('\n')[0]}\n  Raise warehouse.memory_limit in ledgerlake.yaml; nothing received is lost.\n`,
    );
    return 1;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `ledgerlake: unexpected: ${visibleLines(text)}\n  This is a bug; please report it with the text above.\n`,
  );
  return 1;
}
