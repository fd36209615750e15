import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../../src', import.meta.url));

/** What each folder of `src/` may import, besides itself and the files of the root. Imports point one way. */
const allowed: Record<string, readonly string[]> = {
  commands: [
    ...['report', 'status', 'run', 'project', 'export', 'archive', 'publish', 'warehouse'],
    ...['jobs', 'config', 'landing', 'api', 'operations', 'sandbox'],
  ],
  report: ['status', 'run', 'publish', 'warehouse', 'config', 'landing'],
  status: [
    ...['run', 'archive', 'publish', 'load', 'warehouse', 'jobs', 'config', 'landing', 'api', 'operations'],
  ],
  run: [
    ...['crawl', 'archive', 'export', 'publish', 'load', 'warehouse', 'jobs', 'config', 'landing', 'api'],
    'operations',
  ],
  project: ['jobs', 'config'],
  archive: ['publish', 'load', 'warehouse', 'landing'],
  export: ['warehouse', 'config', 'landing'],
  publish: ['load', 'warehouse', 'model', 'landing'],
  load: ['warehouse', 'model', 'landing'],
  model: [],
  crawl: ['api', 'landing', 'jobs', 'operations'],
  warehouse: ['model', 'config', 'landing'],
  jobs: ['config', 'operations'],
  config: ['api', 'operations'],
  landing: ['operations'],
  api: ['operations'],
  operations: [],
  sandbox: [],
};

/** Files of the root that hold no stage: imported from anywhere. What they may import themselves. */
const root: Record<string, readonly string[]> = {
  'cli.ts': ['commands'],
  'library.ts': ['commands', 'warehouse'],
  'data-folder.ts': ['landing'],
};

/** What users start or import. */
const entries = ['cli.ts', 'library.ts'];

interface Import {
  file: string;
  target: string;
}

function readImports(): Import[] {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return files.flatMap((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    // `from '…'` of imports and re-exports, `import '…'`, `import('…')`.
    const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)['"](\.[^'"]+)['"]/g);
    return [...found].map(([, path]) => ({ file, target: normalize(join(dirname(file), path!)) }));
  });
}

/** The folder of a path below `src/`; '' for a file of the root. */
function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
}

const imports = readImports();
const say = ({ file, target }: Import) => `${file} imports ${target}`;

test('there are imports to look at, and every folder has a rule', () => {
  expect(imports.length).toBeGreaterThan(200);
  const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual(Object.keys(allowed).sort());
});

test('nothing leaves src', () => {
  const outside = imports.filter(({ target }) => relative('.', target).startsWith('..'));
  expect(outside.map(say)).toEqual([]);
});

describe('imports point one way', () => {
  test.each(Object.entries(allowed))('%s', (folder, targets) => {
    const wrong = imports.filter(({ file, target }) => {
      const to = folderOf(target);
      return folderOf(file) === folder && to !== folder && to !== '' && !targets.includes(to);
    });
    expect(wrong.map(say)).toEqual([]);
  });

  test('files of the root', () => {
    const wrong = imports.filter(({ file, target }) => {
      const to = folderOf(target);
      return folderOf(file) === '' && to !== '' && !(root[file] ?? []).includes(to);
    });
    expect(wrong.map(say)).toEqual([]);
  });

  test('nothing imports cli.ts or library.ts; only they and commands import commands', () => {
    const wrong = imports.filter(
      ({ file, target }) =>
        entries.includes(target) ||
        (folderOf(target) === 'commands' && folderOf(file) !== 'commands' && !entries.includes(file)),
    );
    expect(wrong.map(say)).toEqual([]);
  });

  test('the sandbox is an island: it imports nothing of ours, and only commands import it', () => {
    const wrong = imports.filter(({ file, target }) => {
      const [from, to] = [folderOf(file), folderOf(target)];
      return from === 'sandbox' ? to !== 'sandbox' : to === 'sandbox' && from !== 'commands';
    });
    expect(wrong.map(say)).toEqual([]);
  });

  test('no circles between folders', () => {
    expect(circles(({ file, target }) => [folderOf(file), folderOf(target)])).toEqual([]);
  });

  test('nor between files, types included', () => {
    expect(circles(({ file, target }) => [file, target])).toEqual([]);
  });
});

/** The nodes that lead back to themselves. @param ends the nodes an import leads from and to; '' for none */
function circles(ends: (one: Import) => [from: string, to: string]): string[] {
  const graph = new Map<string, Set<string>>();
  for (const one of imports) {
    const [from, to] = ends(one);
    if (from !== '' && to !== '' && from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of graph.get(from) ?? [])
      if (!seen.has(to)) {
        seen.add(to);
        reach(to, seen);
      }
    return seen;
  };
  return [...graph.keys()].filter((node) => reach(node).has(node));
}
