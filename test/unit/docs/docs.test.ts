import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { referencePages } from '../../../scripts/reference-pages.ts';
import { commandList } from '../../../src/commands/command-list.ts';
import { configSchema } from '../../../src/config/config-schema.ts';
import { describeModel } from '../../../src/warehouse/model.ts';
import { listDeadLinks, listDocuments, listMissingFiles, readText, root } from '../../support/documents.ts';

/** What the code has and the documents must name. */
const commands = commandList.map(({ name }) => name.split(' ')[0]!);
const jobs = readdirSync(join(root, 'jobs')).flatMap((file) => /^(.*)\.yaml$/.exec(file)?.[1] ?? []);
const tables = await describeModel();

test('the generated parts of docs/reference/ are up to date: npm run docs', async () => {
  for (const { path, current, written } of await referencePages()) expect(current, path).toBe(written);
});

test('docs/README.md leads to every page', () => {
  const pages = listDocuments().filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
  const index = readText('docs/README.md');
  expect(pages.filter((path) => !index.includes(`](${path.slice('docs/'.length)})`))).toEqual([]);
});

test('the glossary has at most 25 words, in order', () => {
  const words = [...readText('docs/glossary.md').matchAll(/^\| ([a-z -]+) \|/gm)]
    .slice(1)
    .map(([, word]) => word!);
  expect(words).toContain('checkpoint');
  expect(words.length).toBeLessThanOrEqual(25);
  expect(words).toEqual([...words].sort());
});

describe('is documented', () => {
  test.each(commands)('the command %s', (name) => {
    expect(readText('docs/reference/commands.md')).toContain(`### ${name}\n`);
  });

  test.each(jobs)('the job %s', (name) => {
    expect(readText('docs/reference/job-files.md')).toContain(`\`${name}\``);
  });

  test.each(tables)(
    'the table $name, and what it and its columns hold',
    ({ name, kind, describe, columns }) => {
      expect(readText('docs/reference/tables.md')).toContain(`### ${name}\n`);
      expect(describe).not.toBe('');
      const silent = columns.filter((column) => kind === 'table' && column.describe === '');
      expect(silent.map((column) => column.name)).toEqual([]);
    },
  );

  test.each(listKeys(z.toJSONSchema(configSchema, { io: 'input' })))('the config key %s', (key) => {
    expect(readText('docs/reference/config.md')).toMatch(new RegExp(`\`[a-z_.<>]*\\b${key}\``));
  });

  const codes = ['0', '1', '3', ...matches(readText('src/errors.ts'), /exitCode = (\d+)/g)];
  test.each([...new Set(codes)])('exit code %s', (code) => {
    expect(readText('docs/reference/exit-codes.md')).toMatch(new RegExp(`^\\| ${code} \\| `, 'm'));
  });

  test.each(listVariables('src'))('the variable %s', (name) => {
    expect(readText('docs/reference/config.md')).toMatch(new RegExp(`^\\| \`${name}\` \\| `, 'm'));
  });

  test.each(listVariables('test').filter((name) => !listVariables('src').includes(name)))(
    'the variable %s of the tests',
    (name) => {
      expect(readText('CONTRIBUTING.md') + readText('docs/reference/config.md')).toContain(`\`${name}\``);
    },
  );

  const { dependencies, devDependencies } = JSON.parse(readText('package.json')) as Record<string, object>;
  test.each(Object.keys({ ...dependencies, ...devDependencies }))('the dependency %s', (name) => {
    expect(readText('docs/dependencies.md')).toContain(`\`${name}\``);
  });

  test.each(matches(readText('Makefile'), /^([a-z-]+):/gm))('make %s, by make itself', (target) => {
    expect(readText('Makefile')).toMatch(new RegExp(`^${target}:.*## `, 'm'));
  });
});

describe.each(listDocuments())('%s', (path) => {
  test('its links lead somewhere', () => {
    expect(listDeadLinks(path)).toEqual([]);
  });

  test('the files it names are there', () => {
    expect(listMissingFiles(path)).toEqual([]);
  });
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found]) => found!);
}

/** Names of environment variables in the code of a folder. */
function listVariables(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  const texts = files.filter((file) => file.endsWith('.ts')).map((file) => readText(join(folder, file)));
  return [...new Set(matches(texts.join('\n'), /\b(LEDGERLAKE_[A-Z_]+[A-Z])\b/g))];
}

/** Last names of all keys of a JSON schema. */
function listKeys(schema: object): string[] {
  const { properties = {} } = schema as { properties?: Record<string, object> };
  const names = Object.entries(properties).flatMap(([name, field]) => {
    const below = listKeys(field);
    return below.length === 0 ? [name] : below;
  });
  return [...new Set(names)];
}
