import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = new URL('../../../sql', import.meta.url).pathname;
/** A cast of something else than a parameter, to a type that not every text fits. */
const raises = /(?<!\$\w*|\$\w+ \* \d+\))::(?!varchar)\w+|(?<!try_)\bcast\(/;

test('no condition relies on another one being checked first: none has a cast that can raise', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => file.endsWith('.sql'))
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => /^\s*(where|and|or|on|having|qualify)\b/.test(line) && raises.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
