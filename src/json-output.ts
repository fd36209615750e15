import { LedgerlakeError, StoppedEarly } from './errors.ts';

/** Whether `--json` was given: read from the arguments, because a failure may come before they are parsed. */
function wantsJson(): boolean {
  const args = process.argv.slice(2);
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}

let isPrinted = false;

/** To be called by whatever writes a command's result to stdout. */
export function noteResult(): void {
  isPrinted = true;
}

/** What `--json` prints in place of a result, so that a program always has one document to read. */
export function printFailure(error: unknown, exitCode: number): void {
  if (isPrinted || !wantsJson()) return;
  noteResult();
  process.stdout.write(`${JSON.stringify(failureDocument(error, exitCode), null, 2)}\n`);
}

/** `stopped` is as a run's report has it. Pure. */
function failureDocument(error: unknown, exitCode: number): Record<string, unknown> {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof LedgerlakeError ? error.hint : null;
  return error instanceof StoppedEarly
    ? { exitCode, stopped: { reason: message, hint } }
    : { exitCode, error: { message, hint } };
}
