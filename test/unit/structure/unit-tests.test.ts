import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** What starts a process, or runs the whole pipeline in this one. */
const slow = ['node:child_process', 'test/support/nights.ts'];

/** Files that a test imports, and those that they import; what is in `src` starts nothing by itself. */
function reach(file: string, seen = new Set<string>()): Set<string> {
  const text = readFileSync(join(root, file), 'utf8');
  for (const [, name] of text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g)) {
    const path = name!.startsWith('.') ? relative(root, join(root, dirname(file), name!)) : name!;
    if (seen.has(path)) continue;
    seen.add(path);
    if (/^(test|bench)\/.*\.ts$/.test(path)) reach(path, seen);
  }
  return seen;
}

test('`make quick` is quick: no unit test starts a process or the pipeline', () => {
  const files = readdirSync(join(root, 'test/unit'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test/unit', name));
  expect(files.length).toBeGreaterThan(80);
  expect(reach('test/e2e/stop.test.ts')).toContain('node:child_process');
  expect(files.filter((file) => [...reach(file)].some((path) => slow.includes(path)))).toEqual([]);
});

test('a test is skipped by its level, or because the machine lacks something: both are counted', () => {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('test', name));
  const own = ['test/levels.ts', 'test/support/needs.ts', 'test/unit/structure/unit-tests.test.ts'];
  const skips = files.filter((file) =>
    /\.(skip|todo|skipIf|runIf|only)\b/.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(skips.filter((file) => !own.includes(file))).toEqual([]);
});
