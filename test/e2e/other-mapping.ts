import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { makeProject } from '../support/project.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Another mapping: `[file in sql, what it says, what it says instead]`. */
export type Change = readonly [string, string, string];

/** The program with another mapping: a copy of it beside its own `sql/`. */
export async function makeProgram(changes: readonly Change[]): Promise<string> {
  const { root } = await makeProject();
  for (const name of ['dist', 'sql', 'package.json'])
    await cp(join(repository, name), join(root, name), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'));
  for (const [file, from, to] of changes) {
    const path = join(root, 'sql', file);
    const text = await readFile(path, 'utf8');
    expect(text, file).toContain(from);
    await writeFile(path, text.replace(from, to));
  }
  return join(root, 'dist/cli.js');
}
