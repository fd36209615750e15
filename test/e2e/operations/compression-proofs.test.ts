import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { leadsToRoot, rangeLeaf } from '../../support/merkle.ts';
import { differences, type Row } from '../table-rows.ts';
import { canonicalText } from './canonical-text.ts';
import { countOddRows, every, freshAddress, openLedger, printed, readFacts, values } from './ledger.ts';

const openHashes = (truth: Truth) =>
  [...truth.compressedAccounts()].flatMap(({ hash, spentBy }) => (spentBy === null ? hash : []));

describe('getCompressedAccountProof', () => {
  const chosen = (truth: Truth) => every(openHashes(truth), 70);

  test('call prints the exact result, which verifies; of a spent account there is none', async () => {
    const ledger = await openLedger(() => ({}));
    const [hash = ''] = openHashes(ledger.truth);
    const called = await ledger.call('getCompressedAccountProof', { hash });
    expect(called).toEqual(printed(called.result));
    const { value } = JSON.parse(called.stdout);
    expect(value).toEqual(ledger.truth.accountProof(hash));
    expect(leadsToRoot(hash, value.leafIndex, value.proof, value.root)).toBe(true);
    expect(leadsToRoot(hash, value.leafIndex ^ 1, value.proof, value.root)).toBe(false);
    const none = await ledger.call('getCompressedAccountProof', { hash: freshAddress('nobody') });
    expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Not Found') });
  });

  test('a job brings proofs, and the stored rows verify', async () => {
    const ledger = await openLedger((truth) => ({
      proofs: `method: getCompressedAccountProof\nfor_each: {hash: ${values([...chosen(truth), freshAddress('nobody')])}}\n`,
    }));
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run } = await ledger.mustRun();
    const expected = chosen(truth).map((hash): [string, Row] => {
      const { leafIndex, merkleTree, proof, root, rootSeq } = truth.accountProof(hash)!;
      const row = { hash, tree: merkleTree, leaf_index: String(leafIndex), root, root_seq: String(rootSeq) };
      return [hash, { ...row, proof: proof as unknown as Row[string], extra: null }];
    });
    const rows = await readFacts(ledger, 'compressed_account_proofs', 'hash');
    expect(differences(new Map(expected), rows)).toEqual([]);
    expect(await countOddRows(ledger, 'compressed_account_proofs', run, from, sandbox.world.slot)).toBe(0);
    for (const { hash, leaf_index, proof, root } of rows.values()) {
      const path = proof as unknown as string[];
      expect(leadsToRoot(`${hash}`, Number(leaf_index), path, `${root}`)).toBe(true);
    }
  });
});

describe('getMultipleNewAddressProofsV2', () => {
  const wanted = (truth: Truth) => {
    const trees = truth.addressTrees();
    return Array.from({ length: 120 }, (_, n) => ({
      address: freshAddress(`new ${n}`),
      tree: trees[n % trees.length] as string,
    }));
  };

  test('call prints the exact result', async () => {
    const ledger = await openLedger(() => ({}));
    const addresses = wanted(ledger.truth).slice(0, 3);
    const called = await ledger.call('getMultipleNewAddressProofsV2', { addresses });
    expect(called).toEqual(printed(called.result));
    const proofs = addresses.map(({ address, tree }) => ledger.truth.newAddressProof(address, tree));
    expect(JSON.parse(called.stdout).value).toEqual(proofs);
  });

  test('a job brings proofs in slices, and the stored rows verify', async () => {
    const ledger = await openLedger((truth) => {
      const rows = wanted(truth).map(({ address, tree }) => `('${address}', '${tree}')`);
      const sql = `select address, tree from (values ${rows.join(', ')}) as wanted(address, tree)`;
      return { free: `method: getMultipleNewAddressProofsV2\nfor_each: {sql: "${sql}"}\n` };
    });
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run, jobs } = await ledger.mustRun();
    expect(jobs.free).toMatchObject({ tasks: 1, pages: 3, records: 120 });
    const expected = wanted(truth).map(({ address, tree }): [string, Row] => {
      const proof = truth.newAddressProof(address, tree)!;
      return [
        `${tree} ${address}`,
        {
          tree,
          address,
          lower_range_address: proof.lowerRangeAddress,
          higher_range_address: proof.higherRangeAddress,
          low_element_leaf_index: String(proof.lowElementLeafIndex),
          next_index: String(proof.nextIndex),
          root: proof.root,
          root_seq: String(proof.rootSeq),
          proof: proof.proof as unknown as Row[string],
          extra: null,
        },
      ];
    });
    const rows = await readFacts(ledger, 'new_address_proofs', 'tree', 'address');
    expect(differences(new Map(expected), rows)).toEqual([]);
    expect(await countOddRows(ledger, 'new_address_proofs', run, from, sandbox.world.slot)).toBe(0);
    for (const row of rows.values()) {
      const leaf = rangeLeaf(`${row.lower_range_address}`, `${row.higher_range_address}`);
      const path = row.proof as unknown as string[];
      expect(leadsToRoot(leaf, Number(row.low_element_leaf_index), path, `${row.root}`)).toBe(true);
    }
  });
});

describe('getValidityProof', () => {
  interface Question {
    hashes?: string[];
    newAddressesWithTrees?: { address: string; tree: string }[];
  }

  /** Enough for both forms of the proof: texts and lists of byte numbers. */
  const questions = (truth: Truth): Question[] => {
    const [tree = ''] = truth.addressTrees();
    const hashes = openHashes(truth);
    const fresh = (n: number) => [{ address: freshAddress(`valid ${n}`), tree }];
    return Array.from({ length: 24 }, (_, n) => [
      { hashes: hashes.slice(n * 3, n * 3 + 3) },
      { newAddressesWithTrees: fresh(n) },
      { hashes: hashes.slice(n, n + 1), newAddressesWithTrees: fresh(n) },
    ]).flatMap((kinds, n) => kinds[n % 3] as Question);
  };

  function expectedRow(truth: Truth, { hashes, newAddressesWithTrees }: Question, answer: string): Row {
    const { compressedProof } = JSON.parse(answer).value;
    const base64 = (part: string | number[]) =>
      typeof part === 'string' ? part : Buffer.from(part).toString('base64');
    const accounts = (hashes ?? []).map((hash) => truth.accountProof(hash)!);
    const addresses = (newAddressesWithTrees ?? []).map((one) =>
      truth.newAddressProof(one.address, one.tree),
    );
    const proofs = [...accounts, ...addresses.map((proof) => proof!)];
    const params = { ...(hashes && { hashes }), ...(newAddressesWithTrees && { newAddressesWithTrees }) };
    const lists = {
      leaves: [...(hashes ?? []), ...addresses.map((proof) => proof!.address)],
      leaf_indices: [
        ...accounts.map((proof) => String(proof.leafIndex)),
        ...addresses.map((proof) => String(proof!.lowElementLeafIndex)),
      ],
      trees: proofs.map(({ merkleTree }) => merkleTree),
      roots: proofs.map(({ root }) => root),
      root_indices: proofs.map(({ rootSeq }) => String(rootSeq % 2400)),
    };
    return {
      request_key: createHash('sha256').update(canonicalText(params)).digest('hex').slice(0, 32),
      hashes: hashes ?? null,
      new_addresses: newAddressesWithTrees ?? null,
      proof_a: base64(compressedProof.a),
      proof_b: base64(compressedProof.b),
      proof_c: base64(compressedProof.c),
      ...lists,
      extra: null,
    } as unknown as Row;
  }

  test('call prints the exact result; nothing to prove is refused before it costs anything', async () => {
    const ledger = await openLedger(() => ({}));
    for (const question of questions(ledger.truth).slice(0, 3)) {
      const called = await ledger.call('getValidityProof', question);
      expect(called).toEqual(printed(called.result));
    }
    expect(await ledger.call('getValidityProof', {})).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('at least one of hashes, newAddressesWithTrees'),
    });
  });

  test('jobs bring proofs of both forms under the key of their question', async () => {
    const ledger = await openLedger((truth) =>
      Object.fromEntries(
        questions(truth).map((question, n) => [
          `proof-${n}`,
          `method: getValidityProof\nparams: ${JSON.stringify(question)}\n`,
        ]),
      ),
    );
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run } = await ledger.mustRun();
    const results = ledger.results('getValidityProof');
    expect(new Set(results.map((result) => /"a":(.)/.exec(result)?.[1]))).toEqual(new Set(['"', '[']));
    const expected = questions(truth).map((question): [string, Row] => {
      const leaf = question.hashes?.[0] ?? question.newAddressesWithTrees?.[0]?.address ?? '';
      const count = (question.hashes?.length ?? 0) + (question.newAddressesWithTrees?.length ?? 0);
      const answer = results.find((result) => {
        const { leaves } = JSON.parse(result).value;
        return leaves[0] === leaf && leaves.length === count;
      });
      const row = expectedRow(truth, question, `${answer}`);
      return [`${row.request_key}`, row];
    });
    const rows = await readFacts(ledger, 'validity_proofs', 'request_key');
    expect(differences(new Map(expected), rows)).toEqual([]);
    expect(await countOddRows(ledger, 'validity_proofs', run, from, sandbox.world.slot)).toBe(0);
  });
});
