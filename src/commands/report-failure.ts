import { asDiskError, LedgerlakeError } from '../errors.ts';

/** Prints a failure once, with what to do about it, and returns the exit code. */
export function reportFailure(failure: unknown): number {
  const error = asDiskError(failure);
  if (error instanceof LedgerlakeError) {
    process.stderr.write(`ledgerlake: ${error.message}\n  ${error.hint}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `ledgerlake: unexpected: ${text}\n  This is a bug; please report it with the text above.\n`,
  );
  return 1;
}
