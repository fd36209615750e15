import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { openBuild } from '../../../src/warehouse/build.ts';
import type { Database } from '../../../src/warehouse/database.ts';
import { repairSlots, repairTimes } from '../../../src/warehouse/repair-slots.ts';
import { makeFolder } from '../../support/publish-landed.ts';

const key = (name: string) => name.padEnd(43, '1');

/** A version of an account: name, run that changed it, slot, first and changed slot, and where it ended. */
type Version = [
  string,
  number,
  number | null,
  number | null,
  number | null,
  ended?: number | null,
  gone?: true,
];

async function insert(build: Database, [name, run, slot, first, changed, ...end]: Version): Promise<void> {
  const day = (n: number) => `2026-01-0${n} 02:00:00Z`;
  const isPast = end.length > 0;
  await build.run(
    `insert into ${isPast ? 'past.' : ''}token_accounts by name
    select $name as address, 'run-' || $run as run_id, $slot::bigint as slot, $first::bigint as first_seen_slot,
      $changed::bigint as changed_slot, $at::timestamptz as changed_at, $at::timestamptz as seen_at, 1::ubigint as record_hash
      ${isPast ? ', $ended::bigint as valid_to_slot, $ended_at::timestamptz as valid_to, $gone as gone_reason' : ''}`,
    {
      ...{ name: key(name), run, slot, first, changed, at: day(run) },
      ...(isPast
        ? { ended: end[0] ?? null, ended_at: day(run + 1), gone: end[1] ? 'not_listed' : null }
        : {}),
    },
  );
}

test('rows and versions that answers without a slot left get the nearest slot that is known', async () => {
  const folder = await makeFolder();
  const build = await openBuild(folder, { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() });
  try {
    for (const [run, slot] of [
      [1, 1000],
      [2, 2000],
      [3, 3000],
    ])
      await build.run(
        `insert into meta.checkpoints by name select 'tokens' as job, '' as target, 'full' as kind, 'complete' as state,
          $slot::bigint as min_slot, $slot::bigint + 5 as max_slot, 1 as pages, 1 as records, 0 as quarantined,
          ('2026-01-0' || $run || ' 02:00:00Z')::timestamptz as finished_at,
          'run-' || $run as run_id, 't' as task, 'run-' || $run as crawl`,
        { run: run!, slot: slot! },
      );
    const versions: Version[] = [
      // As they should be.
      ['Whole', 1, 1000, 1000, 1000, 3000],
      ['Whole', 3, 3000, 1000, 3000],
      // Changed on a page without a slot: its version began at none, and the former ended at none.
      ['Open', 1, 1000, 1000, 1000, null],
      ['Open', 2, null, 1000, null],
      // The same, and seen again since.
      ['Again', 2, 3000, null, null],
      // Changed twice.
      ['Twice', 1, 1000, 1000, 1000, null],
      ['Twice', 2, null, 1000, null, 3000],
      ['Twice', 3, 3000, 1000, 3000],
      // Left as a crawl without slots ended.
      ['Gone', 1, 1000, 1000, 1000, null, true],
    ];
    for (const version of versions) await insert(build, version);
    const history = () =>
      build.rows<{ text: string }>(`
        select concat_ws(' ', rtrim(address, '1'), slot, first_seen_slot, valid_from_slot, coalesce(valid_to_slot::varchar, 'open')) as text
        from token_accounts_history order by address, valid_from`);
    await repairSlots(build);
    const repaired = await history();
    expect(repaired.map(({ text }) => text)).toEqual([
      'Again 3000 2000 2000 open',
      'Gone 1000 1000 1000 2005',
      'Open 1000 1000 1000 2000',
      'Open 2000 1000 2000 open',
      'Twice 1000 1000 1000 2000',
      'Twice 2000 1000 2000 3000',
      'Twice 3000 1000 3000 open',
      'Whole 1000 1000 1000 3000',
      'Whole 3000 1000 3000 open',
    ]);
    await repairSlots(build);
    expect(await history()).toEqual(repaired);
  } finally {
    build.close();
  }
});

test('rows that a clock which was ahead left in the future are of now, and former versions end by then', async () => {
  const folder = await makeFolder();
  const build = await openBuild(folder, { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() });
  try {
    await insert(build, ['Now', 1, 1000, 1000, 1000]);
    await insert(build, ['Late', 2, 2000, 1000, 2000]);
    await insert(build, ['Late', 1, 1000, 1000, 1000, 2000]);
    await build.run(
      `update token_accounts set seen_at = '2999-01-01', changed_at = '2999-01-01' where address like 'Late%'`,
    );
    await build.run(`update past.token_accounts set valid_to = '2999-01-01'`);
    const times = () =>
      build.rows(`select rtrim(address, '1') as name, seen_at > now() or changed_at > now() as ahead, seen_at::date::varchar as day
        from token_accounts order by name`);
    await repairTimes(build);
    const [late, now] = await times();
    expect(late).toMatchObject({ name: 'Late', ahead: false });
    expect(now).toEqual({ name: 'Now', ahead: false, day: '2026-01-01' });
    expect(await build.rows('from past.token_accounts where valid_to > now()')).toEqual([]);
  } finally {
    build.close();
  }
});
