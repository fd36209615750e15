import { expect, test } from 'vitest';
import { openScripted } from '../support/workplace.ts';

const files = {
  'ledgerlake.yaml': 'lake: {tables: [assets]}\n',
  'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection}
for_each: {groupValue: {values: [Group11111111111111111111111111111111111111]}}
`,
};

interface Lists {
  attributes: string;
  creators: string;
}

// At the slot of the night before, so that nothing else of the row is different.
test('a row of which only an element of a list changed is changed, in the lake too', async () => {
  let lists: Lists = {
    attributes: '{"trait_type":"eyes","value":"red"},{"trait_type":"hat","value":"tall"}',
    creators: '{"address":"ann","share":50,"verified":true},{"address":"bob","share":50,"verified":true}',
  };
  const record = () =>
    `{"id":"Asset11111111111111111111111111111111111111","interface":"V1_NFT","content":{"metadata":{"name":"one","attributes":[${lists.attributes}]}},"creators":[${lists.creators}]}`;
  const place = await openScripted(
    (_method, { cursor }) =>
      `{"last_indexed_slot":100,"limit":1000,"items":[${cursor ? '' : record()}]${cursor ? '' : ',"cursor":"1"'}}`,
    files,
  );
  const night = async (now: Partial<Lists>) => {
    lists = { ...lists, ...now };
    const { published } = await place.mustRun();
    const { changed, amended } = published.tables.assets!;
    return changed + amended;
  };
  const exported = () =>
    place.rows<{ text: string }>(
      `select attributes::varchar || creators::varchar as text from '${place.data}/lake/assets/*.parquet'`,
    );

  await night({});
  expect(await night({})).toBe(0);
  for (const [now, text] of [
    [{ attributes: '{"trait_type":"eyes","value":"red"},{"trait_type":"hat","value":"flat"}' }, 'flat'],
    [{ attributes: '{"trait_type":"eyes","value":"red"}' }, 'red'],
    [
      {
        creators: '{"address":"ann","share":49,"verified":true},{"address":"bob","share":51,"verified":true}',
      },
      '51',
    ],
  ] as const) {
    expect(await night(now), text).toBe(1);
    expect(await exported()).toEqual([{ text: expect.stringContaining(text) }]);
  }
  expect((await exported())[0]!.text).not.toContain('hat');
});
