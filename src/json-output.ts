import { LedgerlakeError, StoppedEarly } from './errors.ts';

let wantsJson = false;
let isPrinted = false;

/** Looks whether `--json` is among the arguments of the command that begins: it may fail before they are parsed. */
export function beginOutput(args: readonly string[]): void {
  const end = args.indexOf('--');
  wantsJson = (end === -1 ? args : args.slice(0, end)).includes('--json');
  isPrinted = false;
}

/** To be called by whatever writes a command's result to stdout. */
export function noteResult(): void {
  isPrinted = true;
}

/** What `--json` prints in place of a result, so that a program always has one document to read. */
export function printFailure(error: unknown, exitCode: number): void {
  if (isPrinted || !wantsJson) return;
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
