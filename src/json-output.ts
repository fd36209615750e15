import { LedgerlakeError, StoppedEarly } from './errors.ts';

let wantsJson = false;
let hasResult = false;

/** Looks for `--json` among a command's arguments, because the command may fail before they are parsed. */
export function beginOutput(args: readonly string[]): void {
  const end = args.indexOf('--');
  wantsJson = (end === -1 ? args : args.slice(0, end)).includes('--json');
  hasResult = false;
}

/** Must be called by what writes a command's result to stdout. */
export function noteResult(): void {
  hasResult = true;
}

/** Prints a failure as the `--json` document, unless a result was printed: a program always reads one document. */
export function printFailure(error: unknown, exitCode: number): void {
  if (hasResult || !wantsJson) return;
  noteResult();
  process.stdout.write(`${JSON.stringify(failureDocument(error, exitCode), null, 2)}\n`);
}

/** The document of a failure; `stopped` has the form of a run's report. Pure. */
function failureDocument(error: unknown, exitCode: number): Record<string, unknown> {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof LedgerlakeError ? error.hint : null;
  return error instanceof StoppedEarly
    ? { exitCode, stopped: { reason: message, hint } }
    : { exitCode, error: { message, hint } };
}
