import type { AssetList } from './asset-list.ts';
import type { AssetRow, CheckpointRow, VersionRow } from './warehouse-rows.ts';

/** Everything that is wrong with the rows of one list, a sentence each. */
export function checkAssets(
  list: AssetList,
  rows: readonly AssetRow[],
  versions: readonly VersionRow[],
  checkpoints: readonly CheckpointRow[],
): string[] {
  const slots = new Map(rows.map(({ id, slot }) => [id, slot]));
  // One that left later may be missing.
  for (const { id, gone_reason, valid_to_slot } of versions)
    if (gone_reason !== null) slots.set(id, Math.max(slots.get(id) ?? -1, valid_to_slot!));
  return [
    ...checkOnce(rows),
    ...rows.flatMap((row) => checkRow(list, row)),
    ...checkpoints.flatMap((checkpoint) => checkPresence(list, slots, checkpoint)),
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
  slots: ReadonlyMap<string, number>,
  { min_slot, max_slot, range }: CheckpointRow,
): string[] {
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

/** Nothing goes back between two nights, unless it was gone. */
export function checkProgress(
  before: readonly AssetRow[],
  after: readonly AssetRow[],
  versions: readonly VersionRow[],
): string[] {
  const now = new Map(after.map((row) => [row.id, row]));
  const gone = new Set(versions.filter(({ gone_reason }) => gone_reason !== null).map(({ id }) => id));
  return before.flatMap(({ id, slot, content_slot, first_seen_slot }) => {
    if (gone.has(id)) return [];
    const row = now.get(id);
    if (row === undefined) return [`${id} has left`];
    const back = row.slot < slot || (row.content_slot ?? -1) < (content_slot ?? -1);
    if (back) return [`${id} went back from ${slot} to ${row.slot}`];
    return row.first_seen_slot > first_seen_slot ? [`${id} forgot when it was first seen`] : [];
  });
}

/**
 * After calm nights the rows are what the list is now, and what left it is known to have left.
 * @param goneIsKnown whether there were two whole nights to be told so before the last
 */
export function checkCalm(list: AssetList, rows: readonly AssetRow[], goneIsKnown: boolean): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return list.ids().flatMap((id) => {
    const { where, owner, name } = list.stateAt(id, list.now())!;
    const row = byId.get(id);
    if (row === undefined) return where === 'listed' ? [`${id} is listed and not there`] : [];
    // What was found elsewhere is looked at no more, until the list shows it again.
    if (where !== 'listed' && row.collection === list.elsewhere) return [];
    const expected: Record<typeof where, Partial<AssetRow> | null> = {
      listed: { owner, burnt: false, collection: list.collection, ...(list.content ? { name } : {}) },
      burnt: { burnt: true },
      elsewhere: { collection: list.elsewhere },
      gone: null,
    };
    const now = expected[where];
    if (now === null) return goneIsKnown ? [`${id} is gone and still there`] : [];
    return differences(row, now).map((what) => `${id} at the end: ${what}`);
  });
}
