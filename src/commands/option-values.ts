import { InvalidArgumentError } from 'commander';

/**
 * A path given to an option. An empty variable of a script would name the wrong folder; one that is left out altogether
 * makes the next option the value.
 * @throws InvalidArgumentError that says what the option takes, as `argument-errors.ts` words it
 */
export function readPath(text: string): string {
  if (text === '') throw new InvalidArgumentError('a path');
  if (/^-./.test(text)) throw new InvalidArgumentError(`a path (one that begins so is written ./${text})`);
  return text;
}

/** A number given to an option; what range it may have, the command says. @throws as readPath */
export function readNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError('a number');
  return value;
}
