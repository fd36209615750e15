import type { AssetList } from './asset-list.ts';
import type { AssetRow, CheckpointRow } from './warehouse-rows.ts';

/** Everything that is wrong with the rows of one list, a sentence each. */
export function checkAssets(
  list: AssetList,
  rows: readonly AssetRow[],
  checkpoints: readonly CheckpointRow[],
): string[] {
  return [
    ...checkOnce(rows),
    ...rows.flatMap((row) => checkRow(list, row)),
    ...checkpoints.flatMap((checkpoint) => checkPresence(list, rows, checkpoint)),
  ];
}

function checkOnce(rows: readonly AssetRow[]): string[] {
  const seen = new Set<string>();
  return rows.flatMap(({ id }) => {
    const again = seen.has(id);
    seen.add(id);
    return again ? [`${id} is there twice`] : [];
  });
}

/** A row was true at its slot, in an answer that was given. */
function checkRow(list: AssetList, row: AssetRow): string[] {
  const { id, slot, content_slot, changed_slot, first_seen_slot } = row;
  const truth = list.stateAt(id, slot);
  if (truth === null || truth.where === 'gone') return [`${id} did not exist at its slot ${slot}`];
  const group = truth.where === 'elsewhere' ? list.elsewhere : list.collection;
  const expected = { owner: truth.owner, burnt: truth.where === 'burnt', collection: group };
  const problems = differences(row, expected).map((what) => `${id} at its slot ${slot}: ${what}`);
  if (!list.shownAt(id).has(slot)) problems.push(`${id} was never shown at its slot ${slot}`);
  if (!list.shownAt(id).has(first_seen_slot))
    problems.push(`${id} was never shown at its first_seen_slot ${first_seen_slot}`);
  if (content_slot !== null) {
    const name = list.stateAt(id, content_slot)?.name;
    if (row.name !== name) problems.push(`${id} is called ${row.name}, at ${content_slot} it was ${name}`);
  } else if (row.name !== null) problems.push(`${id} has a name that no answer gave`);
  const changed = list.stateAt(id, changed_slot);
  if (changed_slot > slot || changed?.owner !== row.owner)
    problems.push(`${id} was not ${row.owner}'s at its changed_slot ${changed_slot}`);
  return problems;
}

function differences(row: AssetRow, expected: Partial<AssetRow>): string[] {
  return (Object.keys(expected) as (keyof AssetRow)[])
    .filter((column) => row[column] !== expected[column])
    .map((column) => `${column} is ${row[column]}, not ${expected[column]}`);
}

/** What was in the list throughout a complete crawl is there, as new as the crawl. */
function checkPresence(
  list: AssetList,
  rows: readonly AssetRow[],
  { min_slot, max_slot, range }: CheckpointRow,
): string[] {
  const slots = new Map(rows.map(({ id, slot }) => [id, slot]));
  return list
    .ids()
    .filter((id) => list.isListedThroughout(id, min_slot, max_slot) && isWithin(id, range))
    .filter((id) => (slots.get(id) ?? -1) < min_slot)
    .map(
      (id) => `${id} was listed from ${min_slot} to ${max_slot}, its row is of ${slots.get(id) ?? 'never'}`,
    );
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Ids are numbers of 256 bits, ranges of one size share them out. */
function isWithin(id: string, range: string): boolean {
  if (range === '') return true;
  const [number, count] = range.split('/').map(BigInt);
  const value = [...id].reduce((sum, digit) => sum * 58n + BigInt(alphabet.indexOf(digit)), 0n);
  const start = (n: bigint) => (2n ** 256n * n) / count!;
  return value >= start(number! - 1n) && value < start(number!);
}

/** Nothing goes back between two nights. */
export function checkProgress(before: readonly AssetRow[], after: readonly AssetRow[]): string[] {
  const now = new Map(after.map((row) => [row.id, row]));
  return before.flatMap(({ id, slot, content_slot, first_seen_slot }) => {
    const row = now.get(id);
    if (row === undefined) return [`${id} has left`];
    const back = row.slot < slot || (row.content_slot ?? -1) < (content_slot ?? -1);
    if (back) return [`${id} went back from ${slot} to ${row.slot}`];
    return row.first_seen_slot > first_seen_slot ? [`${id} forgot when it was first seen`] : [];
  });
}

/** After a calm night the rows are what the list is now. */
export function checkCalm(list: AssetList, rows: readonly AssetRow[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const now = list.now();
  return list.ids().flatMap((id) => {
    const truth = list.stateAt(id, now)!;
    if (truth.where !== 'listed') return [];
    const row = byId.get(id);
    if (row === undefined) return [`${id} is listed and not there`];
    const expected = { owner: truth.owner, burnt: false, collection: list.collection };
    const problems = differences(row, list.content ? { ...expected, name: truth.name } : expected);
    return problems.map((what) => `${id} at the end: ${what}`);
  });
}
