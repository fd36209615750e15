import type { Workplace } from '../support/workplace.ts';
import { canonical, parseExact } from './exact-json.ts';
import type { Cell } from './expected-rows.ts';

export type Row = Record<string, Cell>;

/** Columns that say where a row comes from, not what the ledger says. */
const bookkeeping =
  /^(slot|seen_at|followed|first_seen_slot|changed_slot|changed_at|run_id|\w+_hash|\w+_slot|\w+_extra|\w+_seen_at)$/;
/** Columns of the ledger whose names look like bookkeeping. */
const ledgerColumns = ['data_hash', 'creator_hash', 'asset_hash', 'tx_slot'];
const jsonColumns = ['inscription', 'spl20', 'extra', 'burnt', 'extensions'];

/** What the snapshot's table says of the ledger: rows by key, JSON columns as canonical text. */
export async function readTable(
  place: Pick<Workplace, 'rows'>,
  table: string,
  key: string,
): Promise<Map<string, Row>> {
  const rows = await place.rows<Row>(`from ${table}`);
  const read = rows.map((row): [string, Row] => {
    const told = Object.entries(row).filter(
      ([name]) => !bookkeeping.test(name) || ledgerColumns.includes(name),
    );
    return [
      row[key] as string,
      Object.fromEntries(told.map(([name, value]) => [name, readCell(name, value)])),
    ];
  });
  if (new Set(read.map(([id]) => id)).size !== read.length) throw new Error(`${table}: a key comes twice`);
  return new Map(read);
}

function readCell(name: string, value: Cell): Cell {
  return jsonColumns.includes(name) && typeof value === 'string' ? canonical(parseExact(value)) : value;
}

/** Bookkeeping of every row of a table, by key. */
export async function readBookkeeping(place: Workplace, table: string, key: string) {
  const rows = await place.rows<
    Record<'slot' | 'seen_at' | 'changed_slot' | 'run_id' | 'record_hash', string>
  >(`from ${table}`);
  return new Map(rows.map((row) => [(row as Record<string, string>)[key] as string, row]));
}

/** Every way in which two tables differ, the first 20 in words. */
export function differences(expected: ReadonlyMap<string, Row>, actual: ReadonlyMap<string, Row>): string[] {
  const found: string[] = [];
  for (const [key, row] of expected) {
    const own = actual.get(key);
    if (own === undefined) found.push(`${key} is missing`);
    else
      for (const name of new Set([...Object.keys(row), ...Object.keys(own)])) {
        const [left, right] = [JSON.stringify(row[name]), JSON.stringify(own[name])];
        if (left !== right) found.push(`${key}.${name}: expected ${left}, the table has ${right}`);
      }
  }
  for (const key of actual.keys()) if (!expected.has(key)) found.push(`${key} is too many`);
  return found.length > 20 ? [...found.slice(0, 20), `… ${found.length} differences`] : found;
}

/** Distinct quarantine entries as `table key column`. */
export async function readQuarantine(place: Pick<Workplace, 'rows'>): Promise<string[]> {
  const rows = await place.rows<{ entry: string }>(
    `select distinct concat_ws(' ', table_name, key, coalesce(column_name, 'whole')) as entry
    from meta.quarantine`,
  );
  return rows.map(({ entry }) => entry).sort();
}
