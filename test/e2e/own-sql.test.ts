import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Script } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';
import { openScriptable } from '../support/workplace.ts';

const key = (name: string, n = 0) => `${name}${'123456789ABCDEFGHJKLMNPQRSTUVWXYZ'[n]}`.padEnd(43, '1');
const [ann, bea] = [key('Ann'), key('Bea')];
const tokens = (owner: string, tags = '') => `describe: Accounts
method: getTokenAccounts
for_each: {owner: {values: [${owner}]}}
${tags}`;

/** An owner's accounts, all with this amount. */
const accounts =
  (slot: number, amount: number): Script =>
  (call) => {
    const { owner } = call.params;
    const records = Array.from({ length: 12 }, (_, n) => ({
      address: key(owner.slice(0, 4), n),
      ...{ mint: key('Mint'), owner, amount },
    }));
    return answerList(call, records, { slot });
  };

const files = {
  'ledgerlake.yaml': 'lake: {tables: [owner_totals]}\n',
  'jobs/tokens.yaml': tokens(ann),
  // Named so that the one that reads the other comes first.
  'views/big_owners.sql': `-- describe: Owners of more than 100
-- grain: one row an owner
select owner from owner_totals where total > 100;
`,
  'views/owner_totals.sql': `-- describe: What each owner has
select owner, sum(amount)::ubigint as total from token_accounts group by owner -- no semicolon
`,
  'audits/no_empty_accounts.sql': `-- describe: Accounts of nothing
-- severity: error
select address, amount from token_accounts where amount = 0`,
  'audits/few_accounts.sql': `-- describe: Owners with few accounts
-- severity: warn
select owner, count(*) as accounts from token_accounts group by owner having count(*) < 100`,
};

test('views are in the snapshot and the lake; an audit that fails keeps the old snapshot, one that warns does not', async () => {
  const place = await openScriptable(files);
  place.answer(accounts(1000, 10));
  const first = await place.nextDay('run');
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stdout).toContain('audit few_accounts (warn): 1 row: Owners with few accounts; for example');
  expect(await place.rows('from big_owners')).toEqual([{ owner: ann }]);
  expect(await place.rows("select comment from duckdb_views() where view_name = 'owner_totals'")).toEqual([
    { comment: 'What each owner has' },
  ]);
  const manifest = join(place.data, 'lake/_manifests/owner_totals.json');
  const exported = JSON.parse(await readFile(manifest, 'utf8'));
  expect(exported).toMatchObject({ rows: 1, sums: { total: '120' } });

  place.answer(accounts(2000, 0));
  const failed = await place.nextDay('run');
  expect(failed).toMatchObject({ code: 4 });
  expect(failed.stdout).toContain('audit no_empty_accounts (error): 12 rows: Accounts of nothing');
  expect(failed.stdout).toContain('the snapshot stays as it was');
  expect(await place.rows('select max(slot) as slot, max(amount) as amount from token_accounts')).toEqual([
    { slot: '1000', amount: '10' },
  ]);
  expect(JSON.parse(await readFile(manifest, 'utf8'))).toEqual(exported);
  const checked = await place.cli('check', '--max-age', '999d');
  expect(checked).toMatchObject({ code: 5 });
  expect(checked.stdout).toContain('no_empty_accounts');

  // The night after is right again, and what the one before received is in its history.
  place.answer(accounts(3000, 11));
  const third = await place.nextDay('run');
  expect(third, third.stderr).toMatchObject({ code: 0 });
  expect(
    await place.rows(
      `select distinct valid_from_slot::varchar as slot, amount::varchar as amount from token_accounts_history order by 1`,
    ),
  ).toEqual([
    { slot: '1000', amount: '10' },
    { slot: '2000', amount: '0' },
    { slot: '3000', amount: '11' },
  ]);
  expect(JSON.parse(await readFile(manifest, 'utf8'))).toMatchObject({ sums: { total: '132' } });

  // A view that has no file any more leaves; where there is no folder of jobs, nothing does.
  await rm(join(place.root, 'views/big_owners.sql'));
  expect((await place.cli('publish', '--jobs-dir', 'nowhere/jobs')).code).toBe(0);
  const views = () =>
    place.rows("select view_name as name from duckdb_views() where view_name like '%owner%' order by 1");
  expect(await views()).toEqual([{ name: 'big_owners' }, { name: 'owner_totals' }]);
  expect((await place.cli('publish')).code).toBe(0);
  expect(await views()).toEqual([{ name: 'owner_totals' }]);
});

test('an audit that refuses what forget would leave keeps the snapshot: 4', async () => {
  const place = await openScriptable({ 'jobs/tokens.yaml': tokens(ann) });
  place.answer(accounts(1000, 10));
  expect((await place.nextDay('run')).code).toBe(0);
  await mkdir(join(place.root, 'audits'));
  await writeFile(
    join(place.root, 'audits/some.sql'),
    '-- describe: No account is left\nselect 1 as missing where not exists (from token_accounts)',
  );
  const forgotten = await place.cli('forget', 'tokens', '--yes');
  expect(forgotten, forgotten.stderr).toMatchObject({ code: 4 });
  expect(forgotten.stdout).toContain('audit some (error): 1 row: No account is left');
  expect(await place.rows('select count(*) as n from token_accounts')).toEqual([{ n: '12' }]);
});

test.each([
  ['two statements', '-- describe: x\nselect 1; select 2', 'expected exactly one SELECT'],
  ['a change', '-- describe: x\ndelete from token_accounts', 'expected exactly one SELECT'],
  ['a file', "-- describe: x\nselect * from read_text('/etc/hostname')", 'odd.sql'],
  ['a column that is not there', '-- describe: x\nselect nothing from token_accounts', 'odd.sql'],
  ['no header', 'select 1 as x', 'does not say what it is'],
])('SQL that is %s is refused before a request is sent', async (_, sql, message) => {
  const place = await openScriptable({ 'jobs/tokens.yaml': tokens(ann) });
  place.answer(accounts(1000, 1));
  for (const folder of ['views', 'audits']) {
    await rm(join(place.root, 'views'), { recursive: true, force: true });
    await rm(join(place.root, 'audits'), { recursive: true, force: true });
    await mkdir(join(place.root, folder));
    await writeFile(join(place.root, folder, 'odd.sql'), sql);
    const checked = await place.cli('jobs', 'check');
    expect(checked, `${folder}: ${checked.stdout}`).toMatchObject({ code: 2 });
    expect(checked.stderr).toContain(message);
    expect((await place.nextDay('run')).code).toBe(2);
  }
  expect(place.calls()).toEqual([]);
});

test('a view may not take the name of a table, nor two read each other', async () => {
  const place = await openScriptable({
    'jobs/tokens.yaml': tokens(ann),
    'views/assets.sql': '-- describe: x\nselect 1 as x',
  });
  expect((await place.cli('jobs', 'check')).stderr).toContain('has a table or view assets already');
  await rm(join(place.root, 'views/assets.sql'));
  await writeFile(join(place.root, 'views/a.sql'), '-- describe: x\nselect x from b');
  await writeFile(join(place.root, 'views/b.sql'), '-- describe: x\nselect x from a');
  expect((await place.cli('jobs', 'check')).stderr).toContain('a.sql');
});

test('jobs are chosen by their tags', async () => {
  const place = await openScriptable({
    'jobs/one.yaml': tokens(ann, 'tags: [daily, all]\n'),
    'jobs/two.yaml': tokens(bea, 'tags: [all]\n'),
  });
  place.answer(accounts(1000, 1));
  expect((await place.nextDay('run', 'tag:daily')).code).toBe(0);
  expect(new Set(place.calls().map(({ params }) => params.owner))).toEqual(new Set([ann]));
  const planned = await place.cli('plan', 'tag:all', '--json');
  expect(JSON.parse(planned.stdout).jobs.map(({ job }: { job: string }) => job)).toEqual(['one', 'two']);
  expect((await place.cli('check', 'tag:daily')).code).toBe(0);
  const unknown = await place.nextDay('run', 'tag:dialy');
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain('no job has the tag "dialy", did you mean "daily"?');
});
