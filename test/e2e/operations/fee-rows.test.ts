import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openSandboxWorkplace } from '../../support/workplace.ts';
import { bookkeeping } from './ledger.ts';

type Columns = Record<string, unknown>;

describe('getPriorityFeeEstimate', () => {
  test('rows: a series, one an answer, every level', async () => {
    const one = await openSandboxWorkplace({ seed: 33 });
    const fees = one.sandbox.world.truth();
    const [first, second] = [...fees.owners()] as [string, string];
    const options = '{ includeAllPriorityFeeLevels: true }';
    await one.write({
      'jobs/fees.yaml': `describe: test\nmethod: getPriorityFeeEstimate\nparams: { accountKeys: [${first}, ${second}], options: ${options} }\n`,
      'jobs/high.yaml': `describe: test\nmethod: getPriorityFeeEstimate\nparams: { accountKeys: [${second}], options: { priorityLevel: High } }\n`,
    });
    const row = (accounts: string[], request: string, levels: (number | null)[]): Columns => ({
      request_key: createHash('sha256').update(request).digest('hex').slice(0, 32),
      request,
      account_keys: accounts,
      extra: null,
      ...Object.fromEntries(
        [
          'estimate',
          'level_min',
          'level_low',
          'level_medium',
          'level_high',
          'level_very_high',
          'level_unsafe_max',
        ].map((name, n) => [name, levels[n] ?? null]),
      ),
    });
    const expected: Columns[] = [];
    for (let tick = 0; tick < 2; tick += 1) {
      if (tick > 0) one.sandbox.tick();
      const all = fees.priorityFees([first, second]);
      const request = `{"accountKeys":["${first}","${second}"],"options":{"includeAllPriorityFeeLevels":true}}`;
      expected.push(
        row([first, second], request, [
          null,
          all.min,
          all.low,
          all.medium,
          all.high,
          all.veryHigh,
          all.unsafeMax,
        ]),
      );
      const high = `{"accountKeys":["${second}"],"options":{"priorityLevel":"High"}}`;
      expected.push(row([second], high, [fees.priorityFees([second]).high]));
      await one.mustRun();
    }
    const rows = await one.rows<Columns>('from priority_fees order by run_id, estimate is not null');
    const own = rows.map((columns) =>
      Object.fromEntries(Object.entries(columns).filter(([name]) => !bookkeeping.includes(name))),
    );
    expect(own).toEqual(expected);
    expect(new Set(rows.map(({ seen_at }) => seen_at)).size).toBeGreaterThan(1);
  });
});
