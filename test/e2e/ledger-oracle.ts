import type { Truth } from '../../src/sandbox/world-truth.ts';
import { at, parseExact, textOf } from './exact-json.ts';
import {
  type ExpectedRow,
  expectAsset,
  expectTokenAccount,
  withContentOf,
  withoutContent,
} from './expected-rows.ts';
import type { Row } from './table-rows.ts';

/** What the tables must hold after the shipped jobs ran over a whole quiet ledger. */
export interface ExpectedTables {
  assets: Map<string, Row>;
  tokenAccounts: Map<string, Row>;
  signatures: Map<string, Row>;
  /** As `readQuarantine` gives them. */
  quarantine: string[];
}

/**
 * @param before what the tables held: assets that no list gives any more were looked up, and the lists do not say that
 *   the content they leave out has changed
 */
export function expectTables(truth: Truth, before?: ExpectedTables): ExpectedTables {
  const assets = new Map(before?.assets);
  const quarantine = new Set<string>();
  const note = (table: string, { key, quarantined }: ExpectedRow) => {
    for (const column of quarantined) quarantine.add(`${table} ${key} ${column ?? 'whole'}`);
  };
  for (const { id, burnt, record, contentHiddenInLists } of truth.assets()) {
    // No list shows it any more: the rows there are were looked up.
    if (burnt && !assets.has(id)) continue;
    const full = expectAsset(record);
    const row = contentHiddenInLists && !burnt ? hiddenRow(record, full.row, assets.get(id)) : full.row;
    note('assets', full);
    if (row !== null) assets.set(id, row);
  }
  const owners = new Set([...assets.values()].map(({ owner }) => owner));
  // What an owner's list shows no more is gone; an owner that no job asks about keeps what it had.
  const kept = [...(before?.tokenAccounts ?? [])].filter(([, { owner }]) => !owners.has(owner as string));
  const tokenAccounts = new Map(kept);
  for (const { address, owner, record } of truth.tokenAccounts()) {
    if (!owners.has(owner)) continue;
    const expected = expectTokenAccount(record);
    note('token_accounts', expected);
    if (expected.row !== null) tokenAccounts.set(address, expected.row);
  }
  const signatures = new Map<string, Row>();
  for (const { signature, slot, blockTime } of truth.signatures())
    signatures.set(signature, { signature, tx_slot: String(slot), block_time: timeText(blockTime) });
  return { assets, tokenAccounts, signatures, quarantine: [...quarantine].sort() };
}

/**
 * The row of an asset whose content no list gives: it is asked for when there is none yet, and again when something
 * else of the asset changed. A refused answer leaves what was there.
 */
function hiddenRow(record: string, full: Row | null, before: Row | undefined): Row {
  const listed = expectAsset(hideContent(record)).row as Row;
  const bare = { ...withoutContent(listed), extra: full?.extra ?? listed.extra ?? null };
  if (before === undefined) return full ?? bare;
  const unchanged = !isChanged(bare, { ...withoutContent(before) });
  return full === null || unchanged ? withContentOf(bare, before) : full;
}

/** The record of an asset as a list gives it that leaves its content out. */
export function hideContent(record: string): string {
  return record.replace(textOf(at(parseExact(record), 'content')), '{}');
}

/** Whether a row's change counts: not that of a price, nor of the order of lists whose order means nothing. */
export function isChanged(row: Row, before: Row): boolean {
  return JSON.stringify(stable(row)) !== JSON.stringify(stable(before));
}

function stable(row: Row): Row {
  const { price_per_token: _price, price_currency: _currency, ...rest } = row;
  const sorted = ['grouping', 'authorities', 'files'].map((name) => [name, sortedList(rest[name])]);
  const all: Row = { ...rest, ...(Object.fromEntries(sorted) as Row) };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function sortedList(list: Row[string] | undefined): unknown {
  return Array.isArray(list) ? list.map((item) => JSON.stringify(item)).sort() : (list ?? null);
}

/** As DuckDB shows a TIMESTAMPTZ in UTC. */
function timeText(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('T', ' ').replace('.000Z', '+00');
}
