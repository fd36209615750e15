import { expect, test } from 'vitest';
import { bar, showFigure } from '../../bars.ts';
import { key } from '../../support/list-ledger.ts';
import { openInstallation } from '../../support/nights.ts';
import { createDraw, type Draw, readSeed } from '../../support/random.ts';
import type { Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

/** One world: three owners (or collections) with twelve accounts (assets) each, some of which go from one to another. */
const lists = 3;
const rowsEach = 12;

/** Who has each row, by row: the index of its owner. */
function deal(draw: Draw, worlds: number, before?: readonly number[]): number[] {
  return Array.from({ length: worlds * lists * rowsEach }, (_, n) => {
    const world = Math.floor(n / (lists * rowsEach));
    const stays = before !== undefined && draw.chance(2 / 3);
    return stays ? before[n]! : world * lists + draw.between(0, lists - 1);
  });
}

const nameOf = (kind: string, n: number) =>
  key(
    `${kind}${'ABCDEFGHJKMN'[Math.floor(n / 1000) % 12]}${'ABCDEFGHJKMN'[Math.floor(n / 12_000)]}`,
    n % 1000,
  );
const ownerName = (n: number) => nameOf('Who', n);
const rowName = (n: number) => nameOf('Row', n);

/** Lists what each owner and collection has. The slot goes up with every answer, and the answers come in any order. */
function ledger(owners: readonly number[], draw: Draw, from: number): Script {
  let slot = from;
  return async (call) => {
    const target = call.params.owner ?? call.params.groupValue;
    const held = owners.flatMap((owner, n) => (ownerName(owner) === target ? [rowName(n)] : []));
    await new Promise((resolve) => setTimeout(resolve, draw.between(0, 20)));
    slot += 1;
    const records = call.params.owner
      ? held.map((address) => ({ address, mint: key('Mint'), owner: target, amount: 1 }))
      : held.map((id) => ({
          ...{ id, interface: 'V1_NFT', burnt: false },
          grouping: [{ group_key: 'collection', group_value: target }],
        }));
    return answerList(call, records, { slot, pageSize: 10 });
  };
}

const job = (method: string, more: string) => `describe: test\nmethod: ${method}\n${more}page_size: 10\n`;

test('accounts and assets that go from one followed owner or collection to another stay', async () => {
  const seed = readSeed();
  const draw = createDraw(seed);
  const worlds = bar('worlds');
  const targets = Array.from({ length: worlds * lists }, (_, n) => ownerName(n)).join('\n');
  const place = await openInstallation({
    'jobs/t.txt': targets,
    'jobs/tokens.yaml': job('getTokenAccounts', 'for_each: {owner: {file: t.txt}}\n'),
    'jobs/assets.yaml': job(
      'getAssetsByGroup',
      'params: {groupKey: collection}\nfor_each: {groupValue: {file: t.txt}}\n',
    ),
  });
  const before = deal(draw, worlds);
  const after = deal(draw, worlds, before);
  expect((await place.night(ledger(before, draw, 100))).code).toBe(0);
  const { code, calls } = await place.night(ledger(after, draw, 10_000));
  expect([code, calls.filter(({ operation }) => operation === 'getAssetBatch')]).toEqual([0, []]);
  const expected = after.map((owner, n) => `${rowName(n)} ${ownerName(owner)}`).sort();
  const told = (sql: string) =>
    place
      .rows<{ row: string }>(`select ${sql} order by all`)
      .then((rows) => rows.map(({ row }) => row).sort());
  const note = `LEDGERLAKE_SEED=${seed}`;
  expect(await told("address || ' ' || owner as row from token_accounts"), note).toEqual(expected);
  expect(await told("id || ' ' || collection as row from assets"), note).toEqual(expected);
  expect(
    await told('address as row from token_accounts_history where gone_reason is not null'),
    note,
  ).toEqual([]);
  showFigure('worlds', { done: worlds, seed });
});
