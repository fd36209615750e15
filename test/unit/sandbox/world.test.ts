import { expect, test } from 'vitest';
import { createWorld } from '../../../src/sandbox/world.ts';

const world = createWorld({ assets: 10_000 });
const assets = [...world.truth().assets()];
const recordOf = (index: number) => assets[index]?.record as string;

test('the default world has the sizes it promises', () => {
  const standard = createWorld();
  const truth = standard.truth();
  expect({
    assets: standard.assets.keys.size,
    collections: truth.collections().length,
    owners: [...truth.owners()].length,
    tokenAccounts: standard.tokenAccounts.keys.size,
    signatures: standard.signatures.size,
  }).toEqual({ assets: 30_000, collections: 3, owners: 5000, tokenAccounts: 10_000, signatures: 2000 });
});

test('a full record takes about 2 KB', () => {
  const bytes = assets.reduce((sum, asset) => sum + asset.record.length, 0) / assets.length;
  expect(bytes).toBeGreaterThan(1800);
  expect(bytes).toBeLessThan(2400);
});

test('ids are distinct, and so are token accounts', () => {
  expect(new Set(assets.map((asset) => asset.id)).size).toBe(assets.length);
  const accounts = [...world.truth().tokenAccounts()].map((account) => account.address);
  expect(new Set(accounts).size).toBe(accounts.length);
});

test('every record is JSON and says what the truth says of it', () => {
  for (const asset of assets) {
    const record = JSON.parse(asset.record);
    expect([record.id, record.burnt, record.ownership.owner, record.grouping[0].group_value]).toEqual([
      asset.id,
      asset.burnt,
      asset.owner,
      asset.collection,
    ]);
  }
});

test('the specimens stand in the text as written', () => {
  expect(recordOf(7)).toContain('"supply":18446744073709551615,');
  expect(recordOf(17)).toContain('"supply":"18446744073709551615",');
  expect(recordOf(27)).toContain('"supply":-1,');
  expect(recordOf(67)).not.toContain('"supply"');
  expect(recordOf(2)).toContain('"name":"cut pair \\ud83d"');
  expect(recordOf(3)).toContain('before\\u0000after');
  expect(recordOf(4)).toContain('it says \\"items\\":[');
  expect(recordOf(5)).toContain('"name":12345');
  expect(recordOf(21)).toContain('"__proto__":"data"');
  expect(recordOf(30)).toContain('"json_uri":""');
  expect(recordOf(33)).toContain('"exact":18446744073709551615');
});

test('odd values occur all over, at the rates real data has', () => {
  const count = (pattern: RegExp) => assets.filter((asset) => pattern.test(asset.record)).length;
  expect(count(/\\ud8..(?!\\u)|\\ud83d"|(?<!\\ud8..)\\ude00|\\udc00\\ud800/)).toBe(3);
  expect(count(/"attributes":\{/)).toBeGreaterThan(200);
  expect(count(/"attributes":\[\]/)).toBeGreaterThan(200);
  expect(count(/"attributes":null/)).toBeGreaterThan(200);
  expect(count(/"metadata"/)).toBeLessThan(9850);
  expect(count(/"interface":"MplCoreAsset"/)).toBeGreaterThan(800);
  expect(count(/"non_transferable":/)).toBeGreaterThan(600);
  expect(count(/"spl20":/)).toBeGreaterThan(20);
  expect(count(/"percent":0\.07100000000000001/)).toBeGreaterThan(1000);
  expect(count(/"supply":"\d+"/)).toBeGreaterThan(40);
  const big = assets.filter((asset) => BigInt(/"supply":"?(\d+)/.exec(asset.record)?.[1] ?? 0) > 2n ** 53n);
  expect(big.length).toBeGreaterThan(80);
});

test('quirks off: no odd types, numbers or texts', () => {
  const plain = createWorld({ assets: 1000, quirks: false }).truth();
  for (const { record } of plain.tokenAccounts()) {
    expect(Number.isSafeInteger(JSON.parse(record).amount)).toBe(true);
  }
  for (const { record } of plain.assets()) {
    const { content, token_info: token } = JSON.parse(record);
    expect(typeof content.metadata.name).toBe('string');
    expect(Array.isArray(content.metadata.attributes)).toBe(true);
    if (token !== undefined) expect(Number.isSafeInteger(token.supply)).toBe(true);
  }
});

test('a tick changes about one asset in a hundred, moves prices, mints, and leaves the rest alone', () => {
  const moving = createWorld({ assets: 4000, owners: 500 });
  const before = new Map([...moving.truth().assets()].map((asset) => [asset.id, asset]));
  const slot = moving.slot;
  moving.tick();
  const after = [...moving.truth().assets()];
  const changed = after.filter((asset) => before.has(asset.id) && asset.slot !== before.get(asset.id)?.slot);
  const minted = after.filter((asset) => !before.has(asset.id));
  const touched = after.filter(
    (asset) => before.has(asset.id) && asset.record !== before.get(asset.id)?.record,
  );
  const priced = touched.filter((asset) => asset.slot === before.get(asset.id)?.slot);
  expect(changed.length).toBeGreaterThan(30);
  expect(changed.length).toBeLessThanOrEqual(40);
  expect(minted.length).toBe(4);
  expect(priced.length).toBeGreaterThan(150);
  expect(priced.every((asset) => asset.record.includes('"price_info"'))).toBe(true);
  expect([...changed, ...minted].every((asset) => asset.slot > slot && asset.slot <= moving.slot)).toBe(true);
  expect(changed.some((asset) => asset.burnt)).toBe(true);
  expect(changed.some((asset) => asset.owner !== before.get(asset.id)?.owner)).toBe(true);
});

test('a tick moves token accounts: amounts, closed ones, new ones; and brings signatures above all others', () => {
  const moving = createWorld({ assets: 1000 });
  const before = new Map([...moving.truth().tokenAccounts()].map((one) => [one.address, one.record]));
  const [newest] = moving.truth().signatures();
  for (let n = 0; n < 3; n += 1) moving.tick();
  const after = new Map([...moving.truth().tokenAccounts()].map((one) => [one.address, one.record]));
  const closed = [...before.keys()].filter((address) => !after.has(address));
  const opened = [...after.keys()].filter((address) => !before.has(address));
  const changed = [...after].filter(([address, record]) => (before.get(address) ?? record) !== record);
  expect([closed.length > 5, opened.length > 50, changed.length > 200]).toEqual([true, true, true]);
  const signatures = [...moving.truth().signatures()];
  expect(signatures.length).toBe(2060);
  expect(signatures.slice(0, 60).every((item) => item.slot > (newest?.slot as number))).toBe(true);
});

test('a million assets start in seconds and a few megabytes', () => {
  const from = performance.now();
  const large = createWorld({ assets: 1_000_000 });
  const held = large
    .truth()
    .collections()
    .map((one) => large.assets.inCollection(large.assets.collectionKeys.find(one)).length);
  expect(held.reduce((sum, one) => sum + one)).toBe(1_000_000);
  expect(performance.now() - from).toBeLessThan(5000);
});
