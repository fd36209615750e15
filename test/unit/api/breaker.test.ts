import { expect, test } from 'vitest';
import { createBreaker } from '../../../src/api/retry.ts';

/** A breaker after its rest, with the probe under way; time goes on as it is slept. */
async function openProbing() {
  let now = 0;
  const timing = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const breaker = createBreaker(timing);
  const before = breaker.admit('das');
  for (let n = 0; n < 5; n += 1) breaker.exhausted('das');
  await breaker.rest('das');
  const probe = breaker.admit('das');
  return { breaker, before, probe };
}

test('an attempt that was sent before the rest and fails during the probe does not make the API down', async () => {
  const { breaker, before, probe } = await openProbing();
  expect([before, probe]).toEqual(['one of many', 'probe']);
  breaker.failed('das', before!);
  breaker.abandoned('das', before!);
  const rest = breaker.rest('das');
  breaker.answered('das');
  await rest;
  expect([breaker.rest('das'), breaker.admit('das')]).toEqual([null, 'one of many']);
});

test('a probe that fails makes it down; one that is broken off is followed by another', async () => {
  const failed = await openProbing();
  failed.breaker.failed('das', failed.probe!);
  expect(failed.breaker.admit('das')).toBeNull();
  const abandoned = await openProbing();
  abandoned.breaker.abandoned('das', abandoned.probe!);
  expect(abandoned.breaker.admit('das')).toBe('probe');
});

test('who waits for a probe waits no longer when told to stop', async () => {
  const { breaker } = await openProbing();
  const stopping = new AbortController();
  const waiting = breaker.rest('das', stopping.signal);
  stopping.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  await expect(breaker.rest('das', stopping.signal)).rejects.toThrow('stop');
});
