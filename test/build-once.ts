import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;

/**
 * Builds `dist/`, which the end-to-end tests start as users do, unless it is newer than every source. Types are
 * `npm run check`'s business.
 */
export default function buildOnce(): void {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => timeOf(join(entry.parentPath, entry.name)));
  if (timeOf(join(root, 'dist/cli.js')) > Math.max(...sources)) return;
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
