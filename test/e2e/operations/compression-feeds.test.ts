import { describe, expect, test } from 'vitest';
import type { SignatureItem } from '../../../src/sandbox/world-signatures.ts';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { differences, type Row } from '../table-rows.ts';
import { openLedger, printed, readFacts, values } from './ledger.ts';

const owners = (truth: Truth) => [...truth.owners()].slice(0, 6);
const addresses = (truth: Truth) =>
  [...new Set([...truth.compressedAccounts()].flatMap(({ address }) => address ?? []))].slice(0, 6);

const feeds = [
  {
    method: 'getCompressionSignaturesForTokenOwner',
    param: 'owner',
    targets: owners,
    list: (truth: Truth, target: string) => truth.tokenOwnerSignatures(target),
  },
  {
    method: 'getCompressionSignaturesForAddress',
    param: 'address',
    targets: addresses,
    list: (truth: Truth, target: string) => truth.addressSignatures(target),
  },
];

const signatureRow = ({ signature, slot, blockTime }: SignatureItem): Row => ({
  signature,
  tx_slot: String(slot),
  block_time: new Date(blockTime * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00'),
});

describe.each(feeds)('$method', ({ method, param, targets, list }) => {
  test('call prints the exact result, and goes on from a cursor', async () => {
    const ledger = await openLedger(() => ({}));
    const [target = ''] = targets(ledger.truth);
    const all = list(ledger.truth, target);
    const first = await ledger.call(method, { [param]: target, limit: 1 });
    expect(first).toEqual(printed(first.result));
    const { items, cursor } = JSON.parse(first.stdout).value;
    expect(items).toEqual(all.slice(0, 1));
    const rest = await ledger.call(method, { [param]: target, cursor });
    expect(JSON.parse(rest.stdout).value.items).toEqual(all.slice(1));
  });

  test('a job brings every signature and where it was seen, and goes on from the newest', async () => {
    const ledger = await openLedger((truth) => ({
      feed: `method: ${method}\nsince: all\npage_size: 50\nfor_each: {${param}: ${values(targets(truth))}}\n`,
    }));
    const { truth, sandbox } = ledger;
    const source = param === 'owner' ? 'owner' : 'address';
    const expectTables = async () => {
      const seen = targets(truth).flatMap((target) =>
        list(truth, target).map((item) => [target, item] as const),
      );
      const signatures = new Map(seen.map(([, item]) => [item.signature, signatureRow(item)]));
      const rows = await readFacts(ledger, 'compression_signatures', 'signature');
      expect(differences(signatures, rows)).toEqual([]);
      const sources = seen.map(([address, { signature }]): [string, Row] => [
        `${signature} ${source} ${address}`,
        { signature, source, address },
      ]);
      const key = ['signature', 'source', 'address'];
      const actual = await readFacts(ledger, 'compression_signature_sources', ...key);
      expect(differences(new Map(sources), actual)).toEqual([]);
      return signatures.size;
    };
    await ledger.mustRun();
    const count = await expectTables();
    sandbox.tick(4);
    const { published } = await ledger.mustRun();
    expect(published.tables.compression_signatures?.inserted).toBe((await expectTables()) - count);
  });
});
