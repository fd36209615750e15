import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the sandbox shares no code with the pipeline it is the oracle of', () => {
  const folder = new URL('../../../src/sandbox/', import.meta.url);
  const imports = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    return [...text.matchAll(/ from '([^']+)'|import\('([^']+)'\)/g)].map((found) => found[1] ?? found[2]);
  });
  expect(imports.length).toBeGreaterThan(50);
  expect(
    imports.filter((name) => !/^(\.\/[\w-]+\.ts|node:[\w/]+|fastify|@scure\/base)$/.test(name as string)),
  ).toEqual([]);
  // Nor a package in which both could be wrong in the same way.
  const src = new URL('../../../src/', import.meta.url);
  const others = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('sandbox/'),
  );
  const sharing = others.filter((file) => readFileSync(new URL(file, src), 'utf8').includes("'@scure/base'"));
  expect(sharing).toEqual([]);
});
