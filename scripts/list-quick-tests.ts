import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What tests of whole runs import, of this folder or of Node: processes, or the pipeline in this one. */
const slow = ['node:child_process', 'test/support/command-line.ts', 'test/support/nights.ts'];

/** Files that take more than three seconds of CPU each: half of what all the quick ones take together. */
const long = [
  'test/api/limits.test.ts',
  'test/landing/torn-tail.test.ts',
  'test/publish/coverage.test.ts',
  'test/warehouse/damage.test.ts',
  'test/export/export.test.ts',
  'test/load/large-records.test.ts',
  'test/load/long-page-lines.test.ts',
  'test/publish/many-slices.test.ts',
  'test/warehouse/next-snapshot.test.ts',
  'test/archive/restore-segment.test.ts',
];

/** Test files that import nothing slow, however far away. Paths from the repository's folder. */
function listQuickFiles(): string[] {
  const reached = new Map<string, boolean>();
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('test', name))
    .filter((file) => file.endsWith('.test.ts') && !long.includes(file) && !isSlow(file, reached))
    .sort();
}

function isSlow(file: string, reached: Map<string, boolean>): boolean {
  if (slow.includes(file)) return true;
  const known = reached.get(file);
  if (known !== undefined) return known;
  // Files that import each other in a circle.
  reached.set(file, false);
  const text = readFileSync(join(root, file), 'utf8');
  const names = [...text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^']+)'/g)].map(([, name]) => name!);
  const result = names.some((name) => {
    if (!name.startsWith('.')) return slow.includes(name);
    const path = relative(root, join(root, dirname(file), name));
    return /^(test|bench)\//.test(path) && path.endsWith('.ts') && isSlow(path, reached);
  });
  reached.set(file, result);
  return result;
}

// For `make quick`.
console.log(listQuickFiles().join('\n'));
