import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the sandbox shares no code with the pipeline it is the oracle of', () => {
  const folder = new URL('../../src/sandbox/', import.meta.url);
  const imports = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8');
    return [...text.matchAll(/ from '([^']+)'|import\('([^']+)'\)/g)].map((found) => found[1] ?? found[2]);
  });
  expect(imports.length).toBeGreaterThan(50);
  expect(imports.filter((name) => !/^(\.\/[\w-]+\.ts|node:[\w/]+|fastify)$/.test(name as string))).toEqual(
    [],
  );
});
