import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openScripted, type Workplace } from '../support/workplace.ts';
import { type ExpectedRow, expectAsset, expectTokenAccount } from './expected-rows.ts';
import { differences, type Row, readTable } from './table-rows.ts';

/**
 * Records as no API should send them, one a file in `test/fixtures/records/<shape>/`. The name says what becomes of
 * it: `row-…` loads with nothing in quarantine, `field-…` loads without what does not fit, `refused-…` is quarantined
 * whole. A new file is a new case.
 */
const corpus = new URL('../fixtures/records', import.meta.url).pathname;
const collection = 'Group11111111111111111111111111111111111111';

interface Case {
  name: string;
  text: string;
  expected: ExpectedRow;
}

function readCases(shape: string, expect: (text: string) => ExpectedRow): Case[] {
  return readdirSync(join(corpus, shape))
    .sort()
    .map((name) => {
      const text = readFileSync(join(corpus, shape, name), 'utf8').trimEnd();
      const expected = /^refused-depth/.test(name)
        ? { key: /"(?:id|address)" *: *"([^"]+)"/.exec(text)?.[1] ?? '', row: null, quarantined: [null] }
        : expect(text);
      return { name, text, expected };
    });
}

const shapes = [
  {
    shape: 'asset',
    table: 'assets',
    key: 'id',
    list: 'items',
    job: `method: getAssetsByGroup\nparams: {groupKey: collection}\nfor_each: {groupValue: {values: [${collection}]}}\n`,
    ordinary: (id: string) => `{"interface":"V1_NFT","id":"${id}","burnt":false}`,
    expect: expectAsset,
  },
  {
    shape: 'token_account',
    table: 'token_accounts',
    key: 'address',
    list: 'token_accounts',
    job: `method: getTokenAccounts\nfor_each: {mint: {values: [${collection}]}}\n`,
    ordinary: (address: string) =>
      `{"address":"${address}","mint":"${collection}","owner":"${collection}","amount":1}`,
    expect: expectTokenAccount,
  },
];

/** The `n`th of any 44 letters of base58 that differ. */
function goodId(n: number): string {
  const letters = [...String(n).padStart(4, '0')].map((digit) => 'ABCDEFGHJK'[Number(digit)]);
  return `Good1${letters.join('')}${'1'.repeat(35)}`;
}

/** One page with these records, and one with `errors`; then the end. */
function servePage(list: string, records: readonly string[], errors = '[]') {
  return (_method: string, { cursor }: { cursor?: string }): string => {
    const items = cursor === undefined ? records : [];
    const more = cursor === undefined ? `,"cursor":"next","errors":${errors}` : '';
    return `{"last_indexed_slot":100,"total":${items.length},"limit":1000,"${list}":[${items.join(',')}]${more}}`;
  };
}

async function readEntries(place: Workplace, table: string): Promise<string[]> {
  const entries = await place.rows<{ key: string | null; column_name: string | null; raw: string | null }>(
    `select key, column_name, raw from meta.quarantine where table_name = '${table}'`,
  );
  return entries.map(({ key, column_name, raw }) => `${key ?? ''} ${column_name ?? raw}`).sort();
}

describe.each(shapes)(
  'records of shape $shape',
  ({ shape, table, key, list, job, ordinary, expect: read }) => {
    const files = { 'jobs/list.yaml': `describe: test\n${job}` };
    const cases = readCases(shape, read);

    test('the names say what becomes of them', () => {
      const outcomes = cases.map(({ name, expected: { row, quarantined } }) => {
        const outcome = row === null ? 'refused' : quarantined.length > 0 ? 'field' : 'row';
        return `${outcome} ${name}`;
      });
      expect(outcomes).toEqual(cases.map(({ name }) => `${name.split('-')[0]} ${name}`));
    });

    test('each costs at most itself', async () => {
      const large = [goodId(9998), goodId(9999)].map((id) =>
        ordinary(id).replace('}', `,"note":"${'龍\\n'.repeat(400_000)}"}`),
      );
      const texts = cases.flatMap(({ text }, n) => [ordinary(goodId(n)), text]).concat(large);
      const errors = `[{"id":"${goodId(5000)}","error":"not indexed"}]`;
      const place = await openScripted(servePage(list, texts, errors), files);
      const { published } = await place.mustRun();
      expect(published.refused).toEqual([]);

      const expected = new Map<string, Row>();
      const entries = [`${goodId(5000)} {"id":"${goodId(5000)}","error":"not indexed"}`];
      for (const text of texts) {
        const known = cases.find((one) => one.text === text)?.expected ?? read(text);
        if (known.row !== null) expected.set(known.key, known.row);
        for (const column of new Set(known.quarantined))
          entries.push(`${known.key} ${column ?? text.replace(/[\r\n]/g, ' ')}`);
      }
      expect(differences(expected, await readTable(place, table, key))).toEqual([]);
      expect([...new Set(await readEntries(place, table))]).toEqual(entries.sort());
    });

    test('a slot from the far future is not believed: later answers go on changing the row', async () => {
      const id = goodId(1);
      const record = (slot: string, owner: string) =>
        shape === 'asset'
          ? `{"id":"${id}","last_indexed_slot":${slot},"ownership":{"owner":"${owner}"}}`
          : `{"address":"${id}","last_indexed_slot":${slot},"owner":"${owner}"}`;
      let page = { slot: 100, record: record('900000000000000000', goodId(2)) };
      const place = await openScripted(
        (...request) => servePage(list, [page.record])(...request).replace('100', `${page.slot}`),
        files,
      );
      await place.mustRun();
      const rows = () => place.rows(`select owner, slot from ${table}`);
      expect(await rows()).toEqual([{ owner: goodId(2), slot: '100' }]);
      expect(await readEntries(place, table)).toEqual([`${id} slot`]);
      page = { slot: 200, record: record('150', goodId(3)) };
      await place.mustRun();
      expect(await rows()).toEqual([{ owner: goodId(3), slot: '150' }]);
    });

    test('above the limit the task is not published, and says so', async () => {
      const bad = Array.from({ length: 51 }, (_, n) => `{"odd":${n}}`);
      const good = Array.from({ length: 60 }, (_, n) => ordinary(goodId(n)));
      let records = good.slice(0, 10);
      const place = await openScripted(
        (...request) => servePage(list, records)(...request).replace('100', `${100 + records.length}`),
        files,
      );
      await place.mustRun();
      records = [...good, ...bad];
      const { code, report } = await place.run();
      expect(code).toBe(4);
      expect(report.published.refused).toMatchObject([
        {
          job: 'list',
          target: collection,
          guard: 'quarantined',
          reason: expect.stringContaining(
            `51 of 111 records were quarantined, mostly because: no usable ${key}`,
          ),
        },
      ]);
      expect((await readTable(place, table, key)).size).toBe(10);
      const checkpoints = await place.rows(
        'select state, records, quarantined from meta.checkpoints order by state',
      );
      expect(checkpoints).toEqual([
        { state: 'complete', records: '10', quarantined: '0' },
        { state: 'failed', records: '111', quarantined: '51' },
      ]);
      // One below the limit, the same target is published again.
      records = [...good, ...bad.slice(1), ordinary(goodId(60)), ordinary(goodId(61))];
      expect((await place.run()).code).toBe(0);
      expect((await readTable(place, table, key)).size).toBe(62);
    });
  },
);

test('an answer to another question, none of whose records has a usable key, is refused with a reason', async () => {
  const answer = servePage('token_accounts', ['{"address":"none","mint":"another","amount":1}']);
  const job = `describe: test\nmethod: getTokenAccounts\nfor_each: {mint: {values: [${collection}]}}\n`;
  const place = await openScripted(answer, { 'jobs/accounts.yaml': job });
  const { code, report } = await place.run();
  expect({ code, refused: report.published.refused }).toMatchObject({
    code: 4,
    refused: [{ job: 'accounts', reason: expect.stringContaining('1 records, for example one without') }],
  });
});
