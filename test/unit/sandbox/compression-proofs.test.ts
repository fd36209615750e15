import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeBase58 } from '../../../src/sandbox/base58.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type { CompressedAccountTruth } from '../../../src/sandbox/truth-compression.ts';
import { leadsToRoot, rangeLeaf } from '../../support/merkle.ts';
import { call } from './sandbox-client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ assets: 500, owners: 60 });
});
afterAll(() => sandbox.close());

const truth = () => sandbox.world.truth();
const find = (holds: (one: CompressedAccountTruth) => boolean) => {
  for (const one of truth().compressedAccounts()) if (holds(one)) return one;
  throw new Error('no such account');
};
const openHashes = (count: number) => {
  const hashes: string[] = [];
  for (const one of truth().compressedAccounts()) {
    if (one.spentBy === null && hashes.push(one.hash) === count) break;
  }
  return hashes;
};
const free = () => [...truth().owners()].slice(0, 20);

describe('proofs of accounts', () => {
  test('lead to the one root of their tree, which a tick moves', async () => {
    const roots = new Map<string, Set<string>>();
    for (const ticks of [0, 1]) {
      sandbox.tick(ticks);
      for (const hash of openHashes(12)) {
        const { value } = (await call(sandbox, 'getCompressedAccountProof', { hash })).result;
        expect(value).toEqual(truth().accountProof(hash));
        expect(leadsToRoot(hash, value.leafIndex, value.proof, value.root)).toBe(true);
        const tree = `${value.merkleTree} ${ticks}`;
        roots.set(tree, (roots.get(tree) ?? new Set()).add(value.root));
      }
    }
    expect(roots.size).toBe(8);
    expect([...roots.values()].map((one) => one.size)).toEqual(Array(8).fill(1));
  });

  test('a spent account has none', async () => {
    const spent = find((one) => one.spentBy !== null).hash;
    const { error } = await call(sandbox, 'getCompressedAccountProof', { hash: spent });
    expect(error).toEqual({ code: -32000, message: 'Record Not Found' });
  });
});

describe('proofs of new addresses', () => {
  test('each lies between two neighbours of its tree', async () => {
    const params = truth()
      .addressTrees()
      .flatMap((tree) => free().map((address) => ({ address, tree })));
    const { result } = await call(sandbox, 'getMultipleNewAddressProofsV2', params);
    expect(result.value).toEqual(params.map((one) => truth().newAddressProof(one.address, one.tree)));
    const bytes = (text: string) => decodeBase58(text, 32) as Uint8Array;
    for (const one of result.value) {
      const { lowerRangeAddress: lower, higherRangeAddress: higher, address } = one;
      expect(Buffer.compare(bytes(lower), bytes(address))).toBe(-1);
      expect(Buffer.compare(bytes(address), bytes(higher))).toBe(-1);
      expect(leadsToRoot(rangeLeaf(lower, higher), one.lowElementLeafIndex, one.proof, one.root)).toBe(true);
    }
  });

  test('a taken address, an unknown tree and the wrong form are refused', async () => {
    const [tree] = truth().addressTrees() as [string];
    const ask = async (params: unknown) =>
      (await call(sandbox, 'getMultipleNewAddressProofsV2', params)).error?.message;
    const { address: taken } = find(
      (one) => one.address !== null && truth().newAddressProof(one.address, tree) === null,
    );
    expect(await ask([{ address: taken, tree }])).toContain('already exists');
    expect(await ask([{ address: taken, tree: taken }])).toContain('Tree Not Found');
    expect(await ask({ addresses: [{ address: taken, tree }] })).toContain('`params` must be an array');
    expect(await ask([{ address: taken }])).toContain('missing parameter `addresses[0].tree`');
  });
});

test('a validity proof joins both kinds, as byte lists or as strings', async () => {
  const [tree] = truth().addressTrees() as [string];
  const forms = new Set<string>();
  for (const address of free()) {
    const hashes = openHashes(2);
    const asked = { hashes, newAddressesWithTrees: [{ address, tree }] };
    const { value } = (await call(sandbox, 'getValidityProof', asked)).result;
    const proofs = hashes.map((hash) => truth().accountProof(hash));
    const added = truth().newAddressProof(address, tree);
    expect(value).toMatchObject({
      leaves: [...hashes, address],
      roots: [...proofs.map((one) => one?.root), added?.root],
      leafIndices: [...proofs.map((one) => one?.leafIndex), added?.lowElementLeafIndex],
      merkleTrees: [...proofs.map((one) => one?.merkleTree), tree],
    });
    const { a, b, c } = value.compressedProof;
    forms.add(typeof a);
    const lengths = [a, b, c].map((one) => Buffer.from(one, 'base64').length);
    expect(lengths).toEqual([32, 64, 32]);
  }
  expect(forms).toEqual(new Set(['object', 'string']));
  expect((await call(sandbox, 'getValidityProof', { hashes: [] })).error?.code).toBe(-32602);
});
