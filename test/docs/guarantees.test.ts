import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderFigures, renderKept } from '../../scripts/guarantee-figures.ts';
import { type Bar, bars } from '../bars.ts';
import { readText, root } from './documents.ts';

test('the figures of docs/guarantees.md are those of the runs that are kept', () => {
  const [, figures] = /<!-- generated: figures -->\n([\s\S]*)\n<!-- end -->/.exec(
    readText('docs/guarantees.md'),
  )!;
  const file = join(root, 'test/figures.json');
  expect(figures).toBe(renderKept(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}));
});

test('a bar that was not reached is not shown; figures of one bar add up', () => {
  const { nightly } = bars.kills;
  const table = renderFigures({
    ...{ kind: 'nightly' as const, date: '', machine: '', minutes: 1 },
    figures: [
      { bar: 'kills', done: nightly - 200, seed: 7 },
      { bar: 'kills', done: 200, seed: 8, note: 'at most 3 pages asked again' },
      { bar: 'seeds', done: 9999 },
    ],
  });
  expect(table).toMatch(
    new RegExp(`\\| ${nightly} \\| 0 \\| at most 3 pages asked again; seed 7; seed 8 \\|`),
  );
  expect(table).toMatch(/ledgers \| 9,999 \| \*\*not shown\*\* \|/);
});

test.each(Object.entries<Bar>(bars))('%s is shown by a test that asks for this bar', (name, bar) => {
  expect(readText(bar.shownBy)).toMatch(
    new RegExp(`\\bbar\\('${name}'\\)[\\s\\S]*\\bshowFigure\\('${name}'`),
  );
});
