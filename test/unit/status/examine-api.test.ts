import { expect, test } from 'vitest';
import { StoppedEarly } from '../../../src/errors.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import { askOnce } from '../../../src/status/examine-api.ts';
import type { Prober } from '../../../src/status/probe-api.ts';

test('a signal ends the wait between two methods', async () => {
  const stop = new AbortController();
  const reason = new StoppedEarly('stopped by SIGINT', 'Run it again.');
  const asked: string[] = [];
  const prober = {
    async ask({ name }: { name: string }) {
      asked.push(name);
      setTimeout(() => stop.abort(reason), 10);
    },
  } as unknown as Prober;
  const operations = ['getAsset', 'getAssetBatch'].map((name) => findOperation(name)!);
  // One request an hour.
  const limits = { das: { rps: 1 / 3600 } };
  await expect(askOnce(prober, operations, limits, stop.signal)).rejects.toBe(reason);
  expect(asked).toEqual(['getAsset']);
});
