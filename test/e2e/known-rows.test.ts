import { expect, test } from 'vitest';
import { daily } from '../levels.ts';
import { openScripted, type Workplace } from '../support/workplace.ts';

// What counts as known to an incremental crawl: a list whose order of changes the test sets.
const collection = 'Group11111111111111111111111111111111111111';
const ann = 'Ann11111111111111111111111111111111111111111';
const bob = 'Bob11111111111111111111111111111111111111111';
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

const idOf = (n: number) =>
  `Asset${base58[Math.floor(n / 58)]}${base58[n % 58]}111111111111111111111111111111111111`;

/** A record; `more`: members besides, as JSON text. */
function asset(n: number, owner = ann, more = ''): string {
  return `{"interface":"V1_NFT","id":"${idOf(n)}","ownership":{"owner":"${owner}","frozen":false}${more}}`;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

interface List {
  place: Workplace;
  /** Records, the last changed first; a full crawl gets them in the same order. */
  records: string[];
  /** `null`: the answers say none. */
  slot: number | null;
  /** Page numbers asked for, oldest first; `cursor`: a page of a full crawl. */
  asked: (number | 'cursor')[];
  /** Runs the job and tells what it asked for and how it ended. */
  night(): Promise<{ asked: (number | 'cursor')[]; reason: string; kind: string }>;
}

async function openList(records: string[], pageSize = 10): Promise<List> {
  const place = await openScripted(
    (_, { page, cursor, sortBy, limit }) => {
      list.asked.push(sortBy === undefined ? 'cursor' : page);
      const from = sortBy === undefined ? Number(cursor ?? 0) : (page - 1) * limit;
      const items = list.records.slice(from, from + limit);
      const next = sortBy === undefined && items.length > 0 ? `,"cursor":"${from + items.length}"` : '';
      return `{"last_indexed_slot":${list.slot},"items":[${items}]${next}}`;
    },
    {
      'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: { groupKey: collection, groupValue: ${collection} }
mode: incremental
page_size: ${pageSize}
`,
    },
  );
  const list: List = {
    place,
    records,
    slot: 100,
    asked: [],
    async night() {
      const before = list.asked.length;
      const { code, stderr } = await place.run();
      if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
      const [checkpoint] = await place.rows<{ reason: string; kind: string }>(
        `select reason, kind from meta.checkpoints order by crawl desc limit 1`,
      );
      return { asked: list.asked.slice(before), ...checkpoint! };
    },
  };
  return list;
}

test('rows that are new, changed, or were never shown so are not known; a price is no change', async () => {
  const list = await openList(range(0, 50).map((n) => asset(n)));
  // The empty page below a full one is requested twice.
  expect((await list.night()).asked).toEqual(Array(7).fill('cursor'));
  const night = (slot: number, records: string[]) => {
    Object.assign(list, { slot, records });
    return list.night();
  };
  const rest = (from: number) => range(from, 50).map((n) => asset(n));
  expect(await night(110, rest(0))).toEqual({ asked: [1], reason: 'known', kind: 'incremental' });

  expect((await night(120, [asset(60), ...rest(0)])).asked).toEqual([1, 2]);
  expect((await night(130, [asset(60, bob), ...rest(0)])).asked).toEqual([1, 2]);
  // The content was never carried before.
  const named = ',"content":{"metadata":{"name":"Tide"}}';
  expect((await night(140, [...rest(0).slice(0, 9), asset(9, ann, named), ...rest(10)])).asked).toEqual([
    1, 2,
  ]);
  // A list that leaves it out again says nothing of it.
  expect((await night(150, rest(0))).asked).toEqual([1]);

  const priced = (price: number) =>
    asset(0, ann, `,"token_info":{"supply":1,"price_info":{"price_per_token":${price},"currency":"USDC"}}`);
  expect((await night(160, [priced(1), ...rest(1)])).asked).toEqual([1, 2]);
  expect((await night(170, [priced(2), ...rest(1)])).asked).toEqual([1]);
  const rows = await list.place.rows(`select name, price_per_token as price from assets
    where id in ('${idOf(0)}', '${idOf(9)}') order by id`);
  expect(rows).toEqual([
    { name: null, price: 2 },
    { name: 'Tide', price: null },
  ]);
});

daily('only the end of a page counts, so what stands above it may be new', async () => {
  const list = await openList(
    range(0, 900).map((n) => asset(n)),
    300,
  );
  await list.night();
  const changed = (count: number) => [
    ...range(0, count).map((n) => asset(n, bob)),
    ...range(count, 900).map((n) => asset(n)),
  ];
  Object.assign(list, { slot: 110, records: changed(100) });
  expect((await list.night()).asked).toEqual([1]);
  Object.assign(list, {
    slot: 120,
    records: [...range(800, 901).map((n) => asset(n, bob)), ...changed(100)],
  });
  expect((await list.night()).asked).toEqual([1, 2]);
});

daily('records that become no row, or not whole, do not make every night a full walk', async () => {
  const odd = ['{"id":null}', '{"id":"x"}', `{"id":"${idOf(70)}","ownership":{"frozen":"perhaps"}}`, '7'];
  const list = await openList([...odd, ...range(0, 30).map((n) => asset(n))]);
  await list.night();
  const quarantine = 'select count(*) as n from meta.quarantine';
  expect(await list.place.rows(quarantine)).toEqual([{ n: '4' }]);
  for (const slot of [110, 120]) {
    list.slot = slot;
    expect(await list.night()).toMatchObject({ asked: [1], reason: 'known' });
    expect(await list.place.rows(quarantine)).toEqual([{ n: '4' }]);
  }
  // A page of nothing else says nothing: the crawl goes on.
  list.records = [...Array(10).fill('{"id":null}'), ...list.records];
  list.slot = 130;
  expect((await list.night()).asked).toEqual([1, 2]);
});

test('a slot that has not moved since: one page and a witness, under whichever kind of crawl', async () => {
  const list = await openList(range(0, 50).map((n) => asset(n)));
  await list.night();
  expect(await list.night()).toEqual({ asked: [1, 1], reason: 'unchanged', kind: 'incremental' });
  expect(await list.night()).toMatchObject({ asked: [1, 1], reason: 'unchanged' });
  const saved = await list.place.rows(`select requests, saved from meta.requests order by run_id`);
  expect(saved).toEqual([
    { requests: '7', saved: '0' },
    { requests: '2', saved: '5' },
    { requests: '2', saved: '5' },
  ]);
  // A slot that is stuck proves nothing where the first page is another.
  list.records = [...range(100, 110).map((n) => asset(n)), ...list.records];
  expect(await list.night()).toMatchObject({ asked: [1, 2], reason: 'known' });
  expect(await list.place.rows('select count(*) as n from assets')).toEqual([{ n: '60' }]);
});

daily('a source without slots is walked down to what is known', async () => {
  const list = await openList(range(0, 50).map((n) => asset(n)));
  list.slot = null;
  await list.night();
  expect(await list.night()).toMatchObject({ asked: [1], reason: 'known' });
});

daily('what was received but not published is not known', async () => {
  const list = await openList(range(0, 50).map((n) => asset(n)));
  await list.night();
  const asked = list.asked.length;
  Object.assign(list, { slot: 110, records: range(0, 50).map((n) => asset(n, bob)) });
  for (const slot of [110, 120]) {
    list.slot = slot;
    expect(await list.place.cli('crawl')).toMatchObject({ code: 0 });
  }
  const walk = [1, 2, 3, 4, 5, 6, 6];
  expect(list.asked.slice(asked)).toEqual([...walk, ...walk]);
  list.slot = 130;
  expect((await list.night()).asked).toEqual(walk);
  list.slot = 140;
  expect((await list.night()).asked).toEqual([1]);
});

daily(
  'targets whose pages come at the same time are told apart; a page of very long records is not looked at',
  async () => {
    const groups = range(0, 6).map((n) => idOf(100 + n));
    const long = `,"content":{"metadata":{"name":"${'x'.repeat(450_000)}"}}`;
    const listOf = (group: number, owner: string) =>
      range(0, 20).map((n) => asset(group * 20 + n, owner, group === 0 && n < 10 ? long : ''));
    const lists = new Map(groups.map((group, n) => [group, listOf(n, ann)]));
    const asked: string[] = [];
    let slot = 100;
    const place = await openScripted(
      (_, { page = 1, groupValue, limit }) => {
        asked.push(`${groups.indexOf(groupValue)}/${page}`);
        const items = lists.get(groupValue)!.slice((page - 1) * limit, page * limit);
        return `{"last_indexed_slot":${slot},"items":[${items}]}`;
      },
      {
        'jobs/lists.yaml': `describe: test
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${groups}] } }
mode: incremental
page_size: 10
`,
      },
    );
    await place.mustRun();
    slot = 110;
    for (const n of [2, 4]) lists.set(groups[n]!, listOf(n, bob));
    asked.length = 0;
    await place.mustRun();
    expect(asked.sort()).toEqual([
      '0/1',
      '0/2',
      '1/1',
      '2/1',
      '2/2',
      '2/3',
      '2/3',
      '3/1',
      '4/1',
      '4/2',
      '4/3',
      '4/3',
      '5/1',
    ]);
  },
);

daily('rows that another job brought since are not known: they say nothing of those below them', async () => {
  let records = range(0, 50).map((n) => asset(n));
  let slot = 100;
  const asked: number[] = [];
  const place = await openScripted(
    (method, { page = 1, limit }) => {
      if (method === 'getAssetsByGroup') asked.push(page);
      // The creator made the first ten.
      const all = method === 'getAssetsByGroup' ? records : records.slice(0, 10);
      return `{"last_indexed_slot":${slot},"items":[${all.slice((page - 1) * limit, page * limit)}]}`;
    },
    {
      'jobs/creator.yaml': `describe: test
method: getAssetsByCreator
params: { creatorAddress: ${ann} }
`,
      'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: { groupKey: collection, groupValue: ${collection} }
mode: incremental
after: [creator]
page_size: 10
`,
    },
  );
  const night = async (at: number) => {
    slot = at;
    asked.length = 0;
    await place.mustRun();
    return [...asked];
  };
  expect(await night(100)).toEqual([1, 2, 3, 4, 5, 6, 6]);
  records = range(0, 50).map((n) => asset(n, n < 15 ? bob : ann));
  expect(await night(110)).toEqual([1, 2, 3]);
  expect(await place.rows(`select count(*) as n from assets where owner = '${bob}'`)).toEqual([{ n: '15' }]);
  expect(await night(120)).toEqual([1]);
});
