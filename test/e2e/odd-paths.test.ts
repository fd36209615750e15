import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRows } from '../support/rows.ts';
import { openScripted } from '../support/workplace.ts';

const key = (name: string) => name.padEnd(43, '1');
const owner = key('Hoard');

/** An API with two token accounts, whose amounts grow with the slot. */
function createApi() {
  let slot = 100;
  const account = (name: string) => ({ address: key(name), mint: key('Mint'), owner, amount: slot });
  return {
    tick: () => {
      slot += 10;
    },
    answer: (_: string, { cursor }: Record<string, unknown>) => {
      const items = cursor === undefined ? [account('Ann'), account('Bob')] : [];
      return JSON.stringify({
        last_indexed_slot: slot,
        token_accounts: items,
        ...(cursor ? {} : { cursor: 'end' }),
      });
    },
  };
}

const files = {
  'ledgerlake.yaml': 'lake: {tables: [token_accounts], partition_by: {token_accounts: [mint]}}\n',
  'jobs/tokens.yaml': `describe: test\nmethod: getTokenAccounts\nfor_each: {owner: {values: [${owner}]}}\n`,
};

// As a pattern, the first name would also lead to the other folder.
test.each([
  ['a[b]* {c}', 'ab {c}'],
  ['a\\b', 'ab'],
])(
  'a data folder called %s is like any other, also beside %s, and where its path is relative',
  async (name, other) => {
    const api = createApi();
    const place = await openScripted(api.answer, files);
    for (const dir of [other, name, name]) {
      const ended = await place.cli('run', '--data-dir', dir);
      expect([ended.code, ended.stderr]).toEqual([0, expect.not.stringContaining('"level":50')]);
      api.tick();
    }
    const data = join(place.root, name);
    const rows = () =>
      readRows(
        join(data, 'warehouse.duckdb'),
        'select amount, valid_to_slot from token_accounts_history order by all',
      );
    const versions = await rows();
    expect(versions).toEqual([
      { amount: '110', valid_to_slot: '120' },
      { amount: '110', valid_to_slot: '120' },
      { amount: '120', valid_to_slot: null },
      { amount: '120', valid_to_slot: null },
    ]);
    const manifest = JSON.parse(await readFile(join(data, 'lake/_manifests/token_accounts.json'), 'utf8'));
    expect(manifest.files).toMatchObject([{ rows: 2 }]);
    expect(await place.cli('rebuild', '--from-archive', '--data-dir', data)).toMatchObject({ code: 0 });
    expect(await rows()).toEqual(versions);
  },
);

test('a data folder or lake that DuckDB cannot read is refused before anything is asked', async () => {
  const place = await openScripted(() => 'null', files);
  for (const name of ['a\\b*', 'a?b'])
    expect(await place.cli('run', '--data-dir', join(place.root, name))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^ledgerlake: --data-dir: .*DuckDB/),
    });
  const odd = { ...files, 'ledgerlake.yaml': "lake: {uri: 'b[\\c'}\n" };
  const lake = await openScripted(() => 'null', odd);
  expect(await lake.cli('run')).toMatchObject({ code: 2, stderr: expect.stringContaining('lake.uri: ') });
});
