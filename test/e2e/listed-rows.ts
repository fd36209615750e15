import type { Sandbox } from '../../src/sandbox/server.ts';
import type { Workplace } from '../support/workplace.ts';
import { expectAsset } from './expected-rows.ts';
import { hideContent } from './ledger-oracle.ts';
import { differences, type Row, readTable } from './table-rows.ts';

/**
 * How the table differs from what the list gives now: every listed asset must be in it as the ledger says. Assets that
 * left the list are not looked at, and cached prices neither: both are the full crawl's to bring.
 */
export async function listedDifferences({ world }: Sandbox, place: Workplace): Promise<string[]> {
  const listed = new Map<string, Row>();
  for (const { id, burnt, record, contentHiddenInLists } of world.truth().assets()) {
    const { row } = expectAsset(contentHiddenInLists ? hideContent(record) : record);
    if (!burnt && row !== null) listed.set(id, withoutPrices(row));
  }
  const rows = [...(await readTable(place, 'assets', 'id'))].filter(([id]) => listed.has(id));
  return differences(listed, new Map(rows.map(([id, row]) => [id, withoutPrices(row)])));
}

function withoutPrices({ price_per_token: _price, price_currency: _currency, ...row }: Row): Row {
  return row;
}
