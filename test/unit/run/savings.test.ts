import { expect, test } from 'vitest';
import type { EndReason } from '../../../src/landing/page-line.ts';
import type { PlannedStart } from '../../../src/run/crawl-state.ts';
import { createSavings } from '../../../src/run/savings.ts';
import { newTask } from '../../support/crawl.ts';

const full = newTask('getAssetsByGroup', { id: 'full' });
const recent = newTask('getAssetsByGroup', { id: 'recent', incremental: true });

/** What is noted when a crawl of a target of 10 pages (or a new one) has its nth page. */
function noted(task: typeof full, page: number, end: EndReason | null, fullPages: number | null = 10) {
  const lines: unknown[] = [];
  const savings = createSavings({ addSaved: ({ name }, saved) => lines.push([name, saved]) });
  savings.expect([{ task, fullPages } as PlannedStart]);
  savings.onPage(task, { page, end, records: 1, bytes: 1 });
  return { lines, requests: savings.requests };
}

const of = (requests: number) => ({ lines: [['getAssetsByGroup', requests]], requests });
const nothing = { lines: [], requests: 0 };

test('a crawl that ended early saves the pages that the last full one had beyond its own', () => {
  expect(noted(recent, 1, 'known')).toEqual(of(9));
  expect(noted(recent, 3, 'known')).toEqual(of(7));
  expect(noted(recent, 1, 'unchanged')).toEqual(of(9));
  expect(noted(full, 1, 'unchanged')).toEqual(of(9));
});

test('one that goes on, walked it all, or has nothing to be compared with saves nothing', () => {
  expect(noted(recent, 1, null)).toEqual(nothing);
  expect(noted(recent, 10, 'exhausted')).toEqual(nothing);
  expect(noted(recent, 12, 'known')).toEqual(nothing);
  expect(noted(full, 9, 'exhausted')).toEqual(nothing);
  expect(noted(recent, 1, 'known', null)).toEqual(nothing);
});
