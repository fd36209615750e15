import { expect, test } from 'vitest';
import { createAnswerClock } from '../../../src/api/timing.ts';

const minute = 60_000;
const date = (ms: number) => new Date(ms).toUTCString();
const local = Date.UTC(2026, 0, 31, 2);

test('clocks that are near count as the same', () => {
  const clock = createAnswerClock();
  clock.learn(date(local - 9 * minute), local - 100, local + 100);
  expect([clock.aheadMs(), clock.correct(local)]).toEqual([0, local]);
});

test.each([30 * 24 * 60, 11, -11, -30 * 24 * 60])(
  "ours %i minutes ahead: the answers' time counts",
  (minutes) => {
    const clock = createAnswerClock();
    clock.learn(date(local - minutes * minute), local - 100, local + 100);
    expect([clock.aheadMs(), clock.correct(local + 5)]).toEqual([
      minutes * minute,
      local + 5 - minutes * minute,
    ]);
  },
);

test('an answer without a date, or with no date there, says nothing; nor does one old answer among others', () => {
  const clock = createAnswerClock();
  for (const text of [null, 'yesterday', date(local), date(local - 86_400_000), date(local)])
    clock.learn(text, local, local);
  expect(clock.aheadMs()).toBe(0);
});
