import { expect, test } from 'vitest';
import { openScripted, type Workplace } from '../support/workplace.ts';

const id = 'Asset11111111111111111111111111111111111111';
const other = 'Asset22222222222222222222222222222222222222';
const third = 'Asset33333333333333333333333333333333333333';
const collection = 'Group11111111111111111111111111111111111111';
const ann = 'Ann11111111111111111111111111111111111111111';
const bob = 'Bob11111111111111111111111111111111111111111';

const jobs = {
  'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [${collection}]}}
page_size: 1
`,
  'jobs/batch.yaml': `describe: test
method: getAssetBatch
after: [list]
for_each: {ids: {values: [${id}, ${other}, ${third}]}}
`,
};

/** An asset record; `content` is its text, left out when undefined. */
function asset(key: string, owner: string, content?: string): string {
  const member = content === undefined ? '' : `"content":${content},`;
  return `{"interface":"V1_NFT","id":"${key}",${member}"ownership":{"frozen":false,"delegated":false,"delegate":null,"ownership_model":"single","owner":"${owner}"},"mutable":true,"burnt":false}`;
}

/** An API whose answers the test sets before each run: pages of a list, and one batch. */
function createScript() {
  let pages: { slot: number; items: string[] }[] = [];
  let batch = '[]';
  return {
    list(...answers: { slot: number; items: string[] }[]) {
      pages = answers;
    },
    batch(slot: number, records: string[]) {
      batch = `[${records.map((record) => record.replace('{', `{"last_indexed_slot":${slot},`))}]`;
    },
    answer(method: string, { cursor = '0' }: { cursor?: string }): string {
      if (method === 'getAssetBatch') return batch;
      const page = pages[Number(cursor)];
      const [slot, items] = [page?.slot ?? pages.at(-1)?.slot, page?.items ?? []];
      const next = page === undefined ? '' : `,"cursor":"${Number(cursor) + 1}"`;
      return `{"last_indexed_slot":${slot},"total":${items.length},"limit":1,"items":[${items}]${next}}`;
    },
  };
}

interface AssetRow {
  id: string;
  name: string | null;
  owner: string;
  extra: string | null;
  slot: string;
  changed_slot: string;
  content_slot: string | null;
}

function readAssets(place: Workplace): Promise<AssetRow[]> {
  return place.rows(
    'select id, name, owner, extra, slot, changed_slot, content_slot from assets order by id',
  );
}

const named = '{"metadata":{"name":"Tide","symbol":"T","mood":"calm"},"files":[{"uri":"u","size":7}]}';
const extra = '{"content":{"files":[{"uri":"u","size":7}],"metadata":{"mood":"calm"}}}';

test('a list that leaves the content out does not wipe what a batch brought', async () => {
  const script = createScript();
  const place = await openScripted(script.answer, jobs);
  // The three ways to leave it out.
  const leaveOut = [asset(id, ann, '{}'), asset(other, ann), asset(third, ann, 'null')];
  script.list({ slot: 100, items: leaveOut });
  script.batch(
    101,
    [id, other, third].map((key) => asset(key, ann, named)),
  );
  await place.mustRun();
  const full = { name: 'Tide', owner: ann, extra, changed_slot: '100', content_slot: '101' };
  const rows = [id, other, third].map((key) => ({ id: key, ...full }));
  expect(await readAssets(place)).toMatchObject(rows);

  script.list({ slot: 110, items: leaveOut });
  const { published } = await place.mustRun('list');
  expect(published.tables.assets).toMatchObject({ seen: 3, changed: 0, amended: 0, confirmed: 3 });
  expect(await readAssets(place)).toMatchObject(rows.map((row) => ({ ...row, slot: '110' })));

  // From a batch, no content is a value.
  script.batch(
    140,
    [id, other, third].map((key) => asset(key, ann, '{}')),
  );
  await place.mustRun('batch');
  const wiped = { name: null, extra: null, slot: '140', changed_slot: '140', content_slot: '140' };
  expect(await readAssets(place)).toMatchObject(rows.map((row) => ({ ...row, ...wiped })));
});

test('an answer from behind changes nothing, whatever it says', async () => {
  const script = createScript();
  const place = await openScripted(script.answer, jobs);
  script.list(
    { slot: 200, items: [asset(id, ann, named)] },
    { slot: 200, items: [asset(other, ann, named)] },
  );
  await place.mustRun('list');
  const before = await readAssets(place);

  // A whole crawl from behind ends after its first page.
  script.list({ slot: 150, items: [asset(id, bob, '{"metadata":{"name":"Old"}}')] });
  const behind = await place.mustRun('list');
  expect(behind.published.tables.assets).toMatchObject({ seen: 1, stale: 1, changed: 0 });
  expect(await readAssets(place)).toEqual(before);

  // One page from behind among newer ones.
  script.list(
    { slot: 210, items: [asset(id, bob, named)] },
    { slot: 150, items: [asset(other, bob, '{"metadata":{"name":"Old"}}')] },
  );
  const mixed = await place.mustRun('list');
  expect(mixed.published.tables.assets).toMatchObject({ seen: 2, stale: 1, changed: 1 });
  expect(await readAssets(place)).toMatchObject([
    { id, owner: bob, slot: '210', changed_slot: '210' },
    before[1],
  ]);
  const checkpoints = await place.rows(
    `select last_indexed_slot from meta.checkpoints where state = 'complete' order by finished_at desc limit 1`,
  );
  expect(checkpoints).toEqual([{ last_indexed_slot: '150' }]);
});
