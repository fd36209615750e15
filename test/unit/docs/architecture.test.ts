import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readText } from '../../support/documents.ts';

const [, section = ''] = /## The life of a page\n([\s\S]*?)\n## /.exec(readText('ARCHITECTURE.md')) ?? [];

test('the functions of "The life of a page" are in the files that it names', () => {
  const rows = [...section.matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual(expect.arrayContaining(['runPipeline', 'snapshotStage']));
  expect(rows.length).toBeGreaterThanOrEqual(12);
  const missing = rows.filter(([, name, file]) => !declares(readText(file!), name!));
  expect(missing.map(([, name, file]) => `${name} in ${file}`)).toEqual([]);
});

test('so are the others that it names', () => {
  const retries = [...section.matchAll(/^ {4,}(\w+) {2,}/gm)].map(([, name]) => name!);
  expect(retries).toHaveLength(5);
  const others = [...section.matchAll(/\(`(\w+)`(?: for|:)/g)].map(([, name]) => name!);
  expect(others).toHaveLength(2);
  const files = ['api', 'crawl', 'publish'].flatMap((folder) =>
    readdirSync(new URL(`../../../src/${folder}`, import.meta.url)).map((file) =>
      readText(`src/${folder}/${file}`),
    ),
  );
  expect([...retries, ...others].filter((name) => !files.some((text) => declares(text, name)))).toEqual([]);
});

/** Whether a source has a function, or a method, of this name. */
function declares(source: string, name: string): boolean {
  return new RegExp(`(^|\\s)function ${name}\\b|^ +${name}(: \\(|[(<])`, 'm').test(source);
}
