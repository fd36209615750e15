import { expect, test } from 'vitest';
import { orderViews } from '../../../src/warehouse/own-views.ts';

const order = (views: Record<string, string>) =>
  orderViews(Object.entries(views).map(([name, sql]) => ({ name, sql }))).map(({ name }) => name);

test('a view comes after those that it reads, also under a quoted name', () => {
  expect(order({ a: 'select x from b', b: 'select x from "c"', c: 'select 1 as x' })).toEqual([
    'c',
    'b',
    'a',
  ]);
});

test.each([
  ['a line comment', '-- unlike totals\nselect 1 as x'],
  ['a comment over lines', '/* totals\n of totals */ select 1 as x'],
  ['a literal', "select 'it''s of totals' as x"],
  ['an escape literal', "select e'it\\'s of totals' as x"],
  ['a literal between dollars', 'select $t$ totals $t$ as x'],
])('a name in %s is not read: no circle', (_, sql) => {
  expect(order({ totals: 'select x from part', part: sql })).toEqual(['part', 'totals']);
});
