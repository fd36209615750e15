import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteForShell } from '../../src/shell-words.ts';

test.each([
  ['data', 'data'],
  ['/srv/lake_1/data.v2', '/srv/lake_1/data.v2'],
  ['my data', "'my data'"],
  ["Ada's", "'Ada'\\''s'"],
  ['', "''"],
  ['~/data', "'~/data'"],
])('%s is written %s', (word, written) => expect(quoteForShell(word)).toBe(written));

test('a shell reads every word as it is', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((word) => !word.includes('\0'));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (words) => {
      const script = `printf '%s\\0' ${words.map(quoteForShell).join(' ')}`;
      const read = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
      expect(read.split('\0').slice(0, -1)).toEqual(words);
    }),
    { numRuns: 20 },
  );
});
