import { execFile, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { environmentOf, writeFiles } from '../crash/program.ts';
import { startTiny, writeListJob } from './tiny.ts';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const hasScript = spawnSync('script', ['--version']).status === 0;
if (!hasScript)
  console.warn('test/e2e/terminal.test.ts: there is no `script` (util-linux), so no terminal is tried');

test.skipIf(!hasScript)(
  'on a terminal whose window becomes narrower the lines keep to it',
  async () => {
    const { sandbox, place } = await startTiny({ latencyMs: 150 });
    await writeListJob(place, sandbox, 20);
    // A terminal tells its new size to what runs in it.
    await writeFiles(place.root, {
      'go.sh': `stty cols 100 rows 30
terminal=$(tty)
(until grep -q total typescript; do sleep 0.1; done; sleep 0.6; stty cols 40 <$terminal) &
exec '${process.execPath}' '${program}' run
`,
    });
    const typescript = join(place.root, 'typescript');
    const env = { PATH: process.env.PATH, TERM: 'xterm', ...environmentOf(sandbox) };
    await new Promise<void>((resolve, reject) => {
      const child = execFile(
        'script',
        ['-qefc', 'bash go.sh', typescript],
        { cwd: place.root, env },
        (error) => (error === null ? resolve() : reject(error)),
      );
      child.stdin?.end();
    });
    const text = (await readFile(typescript, 'utf8')).replaceAll('\r', '');
    const frames = text
      .split('\u001b[J')
      .map((frame) => stripVTControlCharacters(frame).trimEnd().split('\n'));
    const widest = (lines: readonly string[]) => Math.max(...lines.map((line) => stringWidth(line)));
    expect(Math.max(...frames.slice(0, -2).map(widest)), text).toBeGreaterThan(40);
    const [last] = frames.slice(-1);
    const drawn = last!.slice(
      0,
      last!.findIndex((line) => line.startsWith('run 20')),
    );
    expect(drawn.length, text).toBeGreaterThan(1);
    expect(widest(drawn), text).toBeLessThan(40);
    expect(drawn[0]).toMatch(/^list █{12} 3\/3 {2}done/);
    // Log lines are words, too.
    expect(text).not.toContain('{"level"');
  },
  60_000,
);
