import { asDiskError, isOutOfMemory, LedgerlakeError } from '../errors.ts';
import { printFailure } from '../json-output.ts';
import { asCalled } from './as-called.ts';
import { visibleLines } from './visible-text.ts';

/** Prints a failure once, with what to do about it, and returns the exit code. */
export function reportFailure(failure: unknown): number {
  const error = asDiskError(failure);
  const { text, exitCode } = describeFailure(error);
  process.stderr.write(`ledgerlake: ${text}\n`);
  printFailure(error, exitCode);
  return exitCode;
}

function describeFailure(error: unknown): { text: string; exitCode: number } {
  if (error instanceof LedgerlakeError) {
    const { message, hint, exitCode } = error;
    return { text: `${visibleLines(message)}\n  ${asCalled(visibleLines(hint))}`, exitCode };
  }
  if (isOutOfMemory(error)) {
    const hint = 'Raise warehouse.memory_limit in ledgerlake.yaml; nothing received is lost.';
    return { text: `${error.message.split('\n')[0]}\n  ${hint}`, exitCode: 1 };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const hint = 'This is a bug; please report it with the text above.';
  return { text: `unexpected: ${visibleLines(text)}\n  ${hint}`, exitCode: 1 };
}
