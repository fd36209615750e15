import { UsageError } from '../errors.ts';

/** What to do about arguments that are wrong. */
const hint =
  'ledgerlake --help lists the commands, ledgerlake <command> --help its options: they come after its name, and what only looks like one after --.';

/** Arguments that are wrong, whichever command they are for. */
export function argumentError(message: string): UsageError {
  return new UsageError(message, hint);
}

/**
 * A path given to an option. An empty variable of a script would name the wrong folder; one that is left out altogether
 * makes the next option the value.
 * @throws UsageError that says what the option takes
 */
export function readPath(text: string, option: string): string {
  if (text === '') throw argumentError(`${option} takes a path, not ""`);
  if (/^-./.test(text))
    throw argumentError(`${option} takes a path (one that begins so is written ./${text}), not "${text}"`);
  return text;
}

/** A number given to an option; what range it may have, the command says. @throws as readPath */
export function readNumber(text: string, option: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw argumentError(`${option} takes a number, not "${text}"`);
  return value;
}
