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
    for (let n = 0; n < 2; n += 1) clock.learn(date(local - minutes * minute), local - 100, local + 100);
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

test('one answer from a year ahead is not believed; one from a cache is as old as it says', () => {
  const clock = createAnswerClock();
  const day = 24 * 60 * minute;
  clock.learn(date(local + 365 * day), local, local);
  const timeOf = (date: string | null, age: string | null) => local - clock.timeOf({ date, age }, local);
  expect([clock.aheadMs(), timeOf(date(local + 365 * day), null)]).toEqual([0, 0]);
  expect(timeOf(date(local), '60')).toBe(minute);
  expect(timeOf(date(local - 3 * day), `${3 * 86_400}`)).toBe(3 * day);
  expect(timeOf(date(local - 3 * day), null)).toBe(3 * day);
  expect(timeOf(date(local - 9 * minute), 'soon')).toBe(0);
});
