import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRows } from '../support/rows.ts';
import { at, type Json, parseExact, textOf } from './exact-json.ts';
import type { Cell } from './expected-rows.ts';
import { type ExpectedTables, expectTables, isChanged } from './ledger-oracle.ts';
import { type Night, startNight } from './night.ts';
import { differences, type Row, readBookkeeping, readQuarantine, readTable } from './table-rows.ts';

/** Three nights over one sandbox ledger: the tables hold what the ledger says, and nothing else. */
describe('three nights', () => {
  let night: Night;
  /** What the ledger says, and the night reported, before anything moved. */
  let first: ExpectedTables;
  let report: Awaited<ReturnType<Night['mustRun']>>;
  let from: number;

  beforeAll(async () => {
    night = await startNight({ seed: 20, assets: 1200, owners: 100 });
    from = night.sandbox.world.slot;
    report = await night.mustRun();
    first = expectTables(night.sandbox.world.truth());
  });
  afterAll(() => night.close());

  const expectEqualTables = async (tables: ExpectedTables) => {
    expect(differences(tables.assets, await readTable(night, 'assets', 'id'))).toEqual([]);
    expect(differences(tables.tokenAccounts, await readTable(night, 'token_accounts', 'address'))).toEqual(
      [],
    );
    const signatures = await readTable(night, 'compression_signatures', 'signature');
    expect(differences(tables.signatures, signatures)).toEqual([]);
    expect(await readQuarantine(night)).toEqual(tables.quarantine);
  };
  const bookkeeping = async () => ({
    assets: await readBookkeeping(night, 'assets', 'id'),
    tokenAccounts: await readBookkeeping(night, 'token_accounts', 'address'),
    signatures: await readBookkeeping(night, 'compression_signatures', 'signature'),
  });

  test('the first: every row and column is what the ledger says', async () => {
    await expectEqualTables(first);
    expect(first.assets.size).toBeGreaterThan(1100);
    expect(first.tokenAccounts.size).toBeGreaterThan(150);
    expect(report.published.tables.assets).toMatchObject({ changed: 0, stale: 0 });
    expect(report.published.tables.assets?.inserted).toBe(first.assets.size);
    const slots = await night.rows(
      `select min(slot) >= ${from} as low, max(slot) <= ${night.sandbox.world.slot} as high, count(*) filter (
        where slot is null or first_seen_slot <> changed_slot or run_id <> '${report.run}') as odd from assets`,
    );
    expect(slots).toEqual([{ low: true, high: true, odd: '0' }]);
  });

  test('views show the elements of each list in order', async () => {
    for (const list of ['creators', 'grouping', 'attributes', 'authorities', 'files']) {
      const elements = [...first.assets].flatMap(([id, row]) =>
        ((row[list] ?? []) as Record<string, Cell>[]).map((element, position): [string, Row] => [
          `${id} ${position}`,
          { id, position: String(position), ...element },
        ]),
      );
      const view = list === 'grouping' ? 'asset_groupings' : `asset_${list}`;
      const rows = await night.rows<Row>(`from ${view}`);
      const actual = new Map(rows.map((row) => [`${row.id} ${row.position}`, row]));
      expect(rows.length).toBe(actual.size);
      expect(differences(new Map(elements), actual)).toEqual([]);
    }
  });

  test('every signature is known to come from the latest list', async () => {
    const rows = await night.rows<{ signature: string; source: string; address: string }>(
      'select signature, source, address from compression_signature_sources order by signature',
    );
    const signatures = [...first.signatures.keys()].sort();
    expect(rows).toEqual(signatures.map((signature) => ({ signature, source: 'latest', address: '' })));
  });

  test('the archive holds the exact text of every record that came over the wire, once', async () => {
    const lines = await readRows<{ line: string }>(
      ':memory:',
      `select line::varchar as line from read_parquet('${night.data}/archive/*.parquet')
      where line->>'$.kind' is null`,
    );
    const archived = lines.map(({ line }) => {
      const parsed = parseExact(line);
      const refused = at(parsed, 'raw');
      return typeof refused === 'string' ? refused : textOf(at(parsed, 'record'));
    });
    const wire = night.wire.exchanges.flatMap(({ method, body }) => recordTexts(method, body));
    expect(archived.length).toBeGreaterThan(4000);
    // A text may stand there once more for another kind of question, whose answer makes another row of it.
    expect([...new Set(hashesOf(archived))]).toEqual([...new Set(hashesOf(wire))]);
    expect(archived.length).toBeLessThan(wire.length);
  });

  test('the second, on quiet content: slots move, no row changes', async () => {
    const before = await bookkeeping();
    const second = await night.mustRun();
    for (const table of ['assets', 'token_accounts'])
      expect(second.published.tables[table]).toMatchObject({
        inserted: 0,
        changed: 0,
        amended: 0,
        stale: 0,
      });
    await expectEqualTables(first);
    const after = await bookkeeping();
    for (const [key, row] of after.assets) expectConfirmed(row, before.assets.get(key));
    for (const [key, row] of after.tokenAccounts) expectConfirmed(row, before.tokenAccounts.get(key));
    expect(after.signatures).toEqual(before.signatures);
  });

  test('the third, after three ticks: what changed is marked changed, and only that', async () => {
    night.sandbox.tick(3);
    const before = await bookkeeping();
    const tables = expectTables(night.sandbox.world.truth(), first);
    await night.mustRun();
    await expectEqualTables(tables);
    const after = await bookkeeping();
    const moved = (key: keyof typeof before) =>
      [...after[key]].flatMap(([id, row]) =>
        before[key].get(id)?.changed_slot === row.changed_slot ? [] : id,
      );
    const changed = (now: Map<string, Row>, then: Map<string, Row>) =>
      [...now].flatMap(([id, row]) => {
        const old = then.get(id);
        return old === undefined || isChanged(row, old) ? id : [];
      });
    expect(moved('assets').sort()).toEqual(changed(tables.assets, first.assets).sort());
    expect(moved('tokenAccounts').sort()).toEqual(changed(tables.tokenAccounts, first.tokenAccounts).sort());
    const repriced = [...tables.assets].filter(([id, row]) => {
      const old = first.assets.get(id);
      return old?.price_per_token !== row.price_per_token && old !== undefined && !isChanged(row, old);
    });
    expect(repriced.length).toBeGreaterThan(30);
  });
});

interface Bookkeeping {
  slot: string;
  seen_at: string;
  changed_slot: string;
  run_id: string;
  record_hash: string;
}

function expectConfirmed(row: Bookkeeping, before: Bookkeeping | undefined): void {
  const { changed_slot, run_id, record_hash } = row;
  expect(before).toMatchObject({ changed_slot, run_id, record_hash });
  expect(BigInt(row.slot)).toBeGreaterThan(BigInt(before?.slot ?? 0));
  expect(row.seen_at > (before?.seen_at ?? '')).toBe(true);
}

/** The records of an answer, each as its own text; a raw newline between tokens is a space in the archive. */
function recordTexts(method: string, body: string): string[] {
  const result = at(parseExact(body), 'result') ?? parseExact(body);
  const paths: Record<string, string[]> = {
    getAssetsByGroup: ['items'],
    getAssetsByCreator: ['items'],
    getAssetBatch: [],
    getTokenAccounts: ['token_accounts'],
    getLatestCompressionSignatures: ['value', 'items'],
  };
  const records = at(result, ...(paths[method] as string[])) as Json[];
  return records.filter((record) => record !== null).map((record) => textOf(record).replace(/[\r\n]/g, ' '));
}

function hashesOf(texts: string[]): string[] {
  return texts.map((text) => createHash('sha256').update(text).digest('hex')).sort();
}
