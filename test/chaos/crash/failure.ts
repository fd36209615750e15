import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import type { Ended } from '../../support/program.ts';

/** The program ended with this code and one message of two lines: what is wrong, and what to do about it. */
export function expectFailure(ended: Ended, code: number, expected: RegExp): void {
  expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code });
  const lines = ended.stderr.split('\n').filter((line) => !line.startsWith('{"level":'));
  const message = lines.join('\n');
  expect(message).toMatch(expected);
  expect(message.match(/^ledgerlake: (?!the sample API)/gm)?.length, message).toBe(1);
  // The last line is the hint: indented, a sentence.
  expect(message, message).toMatch(/\n {2}[A-Za-z`][^\n]+[.a-z0-9]\n$/);
  expect(message).not.toMatch(/unexpected|This is a bug|\n\s+at /);
}

/** Contents of a file as a hash; null when there is none. */
export function hashFile(path: string): string | null {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : null;
}

/** Requests that were asked more than once, the newest page of a feed left out. */
export function askedTwice({ requests }: Sandbox): string[] {
  const seen = new Set<string>();
  return requests.flatMap(({ method, params }) => {
    const name = `${method} ${JSON.stringify(params)}`;
    if (method === 'getLatestCompressionSignatures' && !name.includes('cursor')) return [];
    const again = seen.has(name);
    seen.add(name);
    return again ? [name] : [];
  });
}
