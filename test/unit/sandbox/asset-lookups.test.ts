import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { createWorld } from '../../../src/sandbox/world.ts';
import type { AssetTruth } from '../../../src/sandbox/world-truth.ts';
import { leadsToRoot } from '../../support/merkle.ts';
import { call, callText } from './sandbox-client.ts';

let sandbox: Sandbox;
let all: AssetTruth[];
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 1200, owners: 100 });
  all = [...sandbox.world.truth().assets()];
});
afterAll(() => sandbox.close());

test('a batch: null for the unknown, duplicates once, at most 1000, burnt ones told', async () => {
  const all = [...sandbox.world.truth().assets()];
  const burnt = all.find((asset) => asset.burnt)?.id as string;
  const first = all[0]?.id as string;
  const { result } = await call(sandbox, 'getAssetBatch', { ids: [first, 'nobody', first, burnt] });
  expect(result.map((one: { id?: string } | null) => one?.id ?? null)).toEqual([first, null, burnt]);
  expect(result[2].burnt).toBe(true);
  const tooMany = await call(sandbox, 'getAssetBatch', { ids: Array(1001).fill(first) });
  expect(tooMany.error).toMatchObject({ code: -32602, message: expect.stringContaining('1000') });
});

test('one asset is the record of the truth with its slots; an unknown one is an error', async () => {
  const asset = all[7] as AssetTruth;
  const text = await callText(sandbox, 'getAsset', { id: asset.id });
  const slots = new RegExp(
    `"last_indexed_slot":${sandbox.world.slot},|,"last_indexed_slot":${asset.slot}`,
    'g',
  );
  expect(text.replace(slots, '')).toBe(`{"jsonrpc":"2.0","id":"1","result":${asset.record}}`);
  const unknown = await call(sandbox, 'getAsset', { id: sandbox.world.truth().collections()[0] });
  expect(unknown.error).toEqual({ code: -32000, message: 'Asset Not Found' });
});

test('each display option shows what it is for', async () => {
  const shows = async (index: number, option?: string) => {
    const options = option === undefined ? {} : { [option]: true };
    const { result } = await call(sandbox, 'getAsset', { id: all[index]?.id, options });
    return result;
  };
  expect((await shows(3)).grouping).toHaveLength(1);
  expect((await shows(3, 'showUnverifiedCollections')).grouping).toHaveLength(2);
  expect((await shows(3)).grouping[0]).not.toHaveProperty('collection_metadata');
  expect((await shows(3, 'showCollectionMetadata')).grouping[0].collection_metadata).toHaveProperty('name');
  expect(await shows(16)).not.toHaveProperty('inscription');
  expect((await shows(16, 'showInscription')).inscription).toHaveProperty('validationHash');
  const programmable = all.findIndex((asset) => asset.record.includes('"ProgrammableNFT"') && !asset.burnt);
  expect(await shows(programmable)).not.toHaveProperty('token_info');
  expect((await shows(programmable, 'showFungible')).token_info).toMatchObject({ supply: 1, decimals: 0 });
});

test('proofs lead from the asset hash to one root a tree, before and after a tick', async () => {
  for (const _ of [0, 1]) {
    const records = [...sandbox.world.truth().assets()].map((asset) => JSON.parse(asset.record));
    const ids = [...records.slice(0, 998).map((record) => record.id), 'nobody', records[0].id];
    const { result } = await call(sandbox, 'getAssetProofBatch', { ids });
    expect(Object.keys(result)).toEqual(ids.slice(0, -1));
    const roots = new Set<string>();
    for (const { id, compression, burnt } of records.slice(0, 998)) {
      if (!compression.compressed) expect(result[id]).toBeNull();
      else {
        const { root, proof, node_index: node, leaf, tree_id: tree } = result[id];
        roots.add(root);
        expect([leaf, tree, node]).toEqual([
          compression.asset_hash,
          compression.tree,
          2 ** proof.length + compression.leaf_id,
        ]);
        expect(result[id].burnt).toBe(burnt);
        expect(leadsToRoot(leaf, compression.leaf_id, proof, root)).toBe(true);
      }
    }
    expect(roots.size).toBe(1);
    expect(result.nobody).toBeNull();
    sandbox.tick();
  }
});

test('more than a thousand ids are refused', async () => {
  const { error } = await call(sandbox, 'getAssetProofBatch', { ids: Array(1001).fill('a') });
  expect(error?.message).toContain('1000');
});

test('proofs of a large world cost what their tree costs, no more', () => {
  const large = createWorld({ assets: 1_000_000 });
  const from = performance.now();
  const index = [...Array(100).keys()].find((n) => large.assets.traits.kindOf(900_000 + n) === 'compressed');
  const { leaf, proof, root, nodeIndex } = large.assetProofs.proof(900_000 + (index as number)) ?? {
    leaf: '',
    proof: [],
    root: '',
    nodeIndex: 0,
  };
  expect(leadsToRoot(leaf, nodeIndex - 2 ** proof.length, proof, root)).toBe(true);
  expect(performance.now() - from).toBeLessThan(5000);
});
