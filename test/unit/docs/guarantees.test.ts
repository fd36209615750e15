import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addPart, renderFigures, renderKept } from '../../../scripts/guarantee-figures.ts';
import { bars } from '../../bars.ts';
import { readText, root } from '../../support/documents.ts';

test('the figures of docs/guarantees.md are those of the runs that are kept', () => {
  const [, figures] = /<!-- generated: figures -->\n([\s\S]*)\n<!-- end -->/.exec(
    readText('docs/guarantees.md'),
  )!;
  const file = join(root, 'test/figures.json');
  expect(figures).toBe(renderKept(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}));
});

test('a bar that was not reached is not shown; figures of one bar add up', () => {
  const { release } = bars.kills;
  const table = renderFigures({
    ...{ kind: 'release' as const, date: '', machine: '', minutes: 1 },
    figures: [
      { bar: 'kills', done: release - 200, seed: 7 },
      { bar: 'kills', done: 200, seed: 8, note: 'at most 3 pages asked again' },
      { bar: 'seeds', done: 9999 },
    ],
  });
  expect(table).toMatch(
    new RegExp(`\\| ${release} \\| 0 \\| at most 3 pages asked again; seed 7; seed 8 \\|`),
  );
  expect(table).toMatch(/ledgers \| 9,999 \| \*\*not shown\*\* \|/);
});

test('of the parts of a run, the one that did most of a bar shows it', () => {
  const run = { kind: 'release' as const, date: '', machine: '', minutes: 10 };
  const whole = addPart(
    {
      ...run,
      figures: [
        { bar: 'kills', done: 5 },
        { bar: 'seeds', done: 100 },
        { bar: 'seeds', done: 100 },
      ],
    },
    {
      ...run,
      figures: [
        { bar: 'kills', done: 7 },
        { bar: 'seeds', done: 100 },
        { bar: 'stops', done: 1 },
      ],
    },
  );
  expect(whole).toMatchObject({ minutes: 20, parts: 2 });
  expect(whole.figures).toEqual([
    { bar: 'kills', done: 7 },
    { bar: 'seeds', done: 100 },
    { bar: 'seeds', done: 100 },
    { bar: 'stops', done: 1 },
  ]);
  expect(renderFigures(whole)).toContain('in 2 parts 20 minutes');
});
