import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { leadsToRoot } from '../../support/merkle.ts';
import { openScripted } from '../../support/workplace.ts';
import { at, parseExact } from '../exact-json.ts';
import { type ExpectedRow, expectAsset } from '../expected-rows.ts';
import { differences, type Row, readQuarantine, readTable } from '../table-rows.ts';
import { countOddRows, every, freshAddress, openLedger, printed, readFacts, values } from './ledger.ts';

const unknown = freshAddress('nobody');

/** Every seventh asset, whatever it is: burnt, compressed, fungible, odd. */
const chosen = (truth: Truth) => every([...truth.assets()], 7).map(({ id }) => id);

describe('getAsset', () => {
  test('call prints the exact result with each of the four options', async () => {
    const ledger = await openLedger(() => ({}));
    const options = [
      'showUnverifiedCollections',
      'showCollectionMetadata',
      'showFungible',
      'showInscription',
    ].map((name) => ({ [name]: true }));
    const [id] = chosen(ledger.truth);
    const all = Object.assign({}, ...options);
    for (const option of [undefined, ...options, all]) {
      const called = await ledger.call('getAsset', { id, options: option });
      expect(called).toEqual(printed(called.result));
    }
    const none = await ledger.call('getAsset', { id: unknown });
    expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Not Found') });
    const odd = await ledger.call('getAsset', { id, options: { showAll: true } });
    expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining('showAll') });
  });

  test.each([false, true])(
    'a job brings the assets as they are; inscriptions shown: %s',
    async (showInscription) => {
      const ledger = await openLedger((truth) => ({
        assets: `method: getAsset\nparams: {options: {showInscription: ${showInscription}}}\nfor_each: {id: ${values([...chosen(truth), unknown])}}\n`,
      }));
      const { sandbox } = ledger;
      const from = sandbox.world.slot;
      const { run, jobs } = await ledger.mustRun();
      const answers = ledger.results('getAsset').map(expectAsset);
      expect(answers.length).toBe(chosen(ledger.truth).length);
      expect(jobs.assets).toMatchObject({ tasks: answers.length + 1, failed: 0 });
      if (!showInscription) expectTruth(ledger.truth, answers);
      const good = answers.flatMap(({ key, row }) => (row === null ? [] : [[key, row] as const]));
      expect(differences(new Map(good), await readTable(ledger, 'assets', 'id'))).toEqual([]);
      const entries = answers.flatMap(({ key, quarantined }) =>
        quarantined.map((column) => `assets ${key} ${column ?? 'whole'}`),
      );
      expect(await readQuarantine(ledger)).toEqual([...new Set(entries)].sort());
      expect(await countOddRows(ledger, 'assets', run, from, sandbox.world.slot)).toBe(0);
      const carried = await ledger.rows(
        `select count(*) = count(content_seen_at) as content, count(*) = count(token_info_seen_at) as token_info,
        count(*) = count(inscription_seen_at) as inscription, count(inscription) > 0 as inscribed
      from assets`,
      );
      expect(carried).toEqual([
        { content: true, token_info: true, inscription: showInscription, inscribed: showInscription },
      ]);
    },
  );
});

/** The answers say what the ledger says. */
function expectTruth(truth: Truth, answers: readonly ExpectedRow[]): void {
  const actual = new Map(answers.map(({ key, row }) => [key, row as Row]));
  const wanted = chosen(truth).map((id) => expectAsset(truth.asset(id)!.record));
  expect(differences(new Map(wanted.map(({ key, row }) => [key, row as Row])), actual)).toEqual([]);
}

test('an inscription that is gone is gone, but only when it was asked for', async () => {
  const id = 'Asset11111111111111111111111111111111111111';
  let inscription = ',"inscription":{"order":1}';
  let slot = 100;
  const job = (show: boolean) =>
    `describe: test\nmethod: getAsset\nparams: {id: ${id}, options: {showInscription: ${show}}}\n`;
  const answer = () =>
    `{"last_indexed_slot":${slot},"interface":"V1_NFT","id":"${id}","burnt":false${inscription}}`;
  const place = await openScripted(answer, { 'jobs/asset.yaml': job(true) });
  const file = join(place.root, 'jobs/asset.yaml');
  const stored = () => place.rows('select inscription, inscription_slot from assets');
  await place.mustRun();
  expect(await stored()).toEqual([{ inscription: '{"order":1}', inscription_slot: '100' }]);
  [inscription, slot] = ['', 110];
  await writeFile(file, job(false));
  await place.mustRun();
  expect(await stored()).toEqual([{ inscription: '{"order":1}', inscription_slot: '100' }]);
  slot = 120;
  await writeFile(file, job(true));
  const { published } = await place.mustRun();
  expect(published.tables.assets).toMatchObject({ seen: 1, changed: 1 });
  expect(await stored()).toEqual([{ inscription: null, inscription_slot: '120' }]);
});

describe('getAssetProofBatch', () => {
  test('call prints the exact result, which verifies; null for what has no proof', async () => {
    const ledger = await openLedger(() => ({}));
    const { truth } = ledger;
    const proved = [...truth.assets()].filter(({ id }) => truth.assetProof(id) !== null);
    const ids = [...proved.slice(0, 3).map(({ id }) => id), unknown];
    const called = await ledger.call('getAssetProofBatch', { ids });
    expect(called).toEqual(printed(called.result));
    const answer = JSON.parse(called.stdout);
    expect(Object.keys(answer)).toEqual(ids);
    expect(answer[unknown]).toBe(null);
    for (const { id } of proved.slice(0, 3)) {
      const { leaf, node_index, proof, root } = answer[id];
      expect(leadsToRoot(leaf, node_index - 2 ** proof.length, proof, root)).toBe(true);
    }
  });

  test('a job brings the proofs of the compressed ones, and the stored rows verify', async () => {
    const ledger = await openLedger((truth) => {
      const ids = [...truth.assets()].map(({ id }) => id);
      return {
        proofs: `method: getAssetProofBatch\npage_size: 100\nfor_each: {ids: ${values([...ids, unknown])}}\n`,
      };
    });
    const { truth, sandbox } = ledger;
    const from = sandbox.world.slot;
    const { run, jobs } = await ledger.mustRun();
    const expected = [...truth.assets()].flatMap(({ id }) => {
      const of = truth.assetProof(id);
      if (of === null) return [];
      const { tree, leaf, root, proof, burnt } = of;
      const row = { id, tree, leaf, node_index: String(of.nodeIndex), root, proof, burnt: `${burnt}` };
      return [[id, { ...row, extra: null } as unknown as Row] as const];
    });
    expect(expected.length).toBeGreaterThan(50);
    const rows = await readFacts(ledger, 'asset_proofs', 'id');
    expect(differences(new Map(expected), rows)).toEqual([]);
    expect(await countOddRows(ledger, 'asset_proofs', run, from, sandbox.world.slot)).toBe(0);
    expect(jobs.proofs).toMatchObject({ tasks: 1, pages: 5, records: expected.length });
    for (const { leaf, node_index, proof, root } of rows.values()) {
      const path = proof as unknown as string[];
      expect(leadsToRoot(`${leaf}`, Number(node_index) - 2 ** path.length, path, `${root}`)).toBe(true);
    }
    const answers = ledger.results('getAssetProofBatch').map((result) => at(parseExact(result), unknown));
    expect(answers).toContain(null);
  });

  test('a proof that was not asked for does not enter the table', async () => {
    const [asked, other] = ['asked', 'other'].map(freshAddress);
    const answer = () => `{"${other}":{"last_indexed_slot":7,"proof":[]}}`;
    const job = `describe: test\nmethod: getAssetProofBatch\nfor_each: {ids: {values: [${asked}]}}\n`;
    const place = await openScripted(answer, { 'jobs/proofs.yaml': job });
    const { code, report } = await place.run();
    expect({ code, refused: report.published.refused }).toMatchObject({
      code: 4,
      refused: [{ job: 'proofs', reason: expect.stringContaining(`proof of ${other} was not asked for`) }],
    });
    expect(await place.rows('from asset_proofs')).toEqual([]);
  });
});
