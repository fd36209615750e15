import { InvalidArgumentError } from 'commander';

/**
 * A path given to an option. An empty variable of a script would name the wrong folder; one that is left out altogether
 * makes the next option the value.
 */
export function readPath(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  if (/^-./.test(text))
    throw new InvalidArgumentError(`It looks like an option; a path that begins so is written ./${text}.`);
  return text;
}

/** A number given to an option; what range it may have, the command says. */
export function readNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError('Expected a number.');
  return value;
}
