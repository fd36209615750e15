import type { AssetList } from './asset-list.ts';
import type { AssetRow, VersionRow } from './warehouse-rows.ts';

/** Everything that is wrong with the history of one list's rows, a sentence each. */
export function checkHistory(
  list: AssetList,
  rows: readonly AssetRow[],
  versions: readonly VersionRow[],
): string[] {
  const current = new Map(rows.map((row) => [row.id, row]));
  const histories = groupById(versions);
  const without = rows.filter(({ id }) => !histories.has(id)).map(({ id }) => `${id} has no version`);
  const wrong = [...histories].flatMap(([id, own]) => [
    ...own.flatMap((version) => checkVersion(list, version)),
    ...checkChain(own),
    ...own.filter(({ gone_reason }) => gone_reason !== null).flatMap((version) => checkGone(list, version)),
    ...checkCurrent(own, current.get(id)),
  ]);
  return [...without, ...wrong];
}

/** A version was true at the slot it begins at. */
function checkVersion(list: AssetList, version: VersionRow): string[] {
  const { id, valid_from_slot, content_slot } = version;
  const truth = list.stateAt(id, valid_from_slot);
  if (truth === null || truth.where === 'gone')
    return [`${id} has a version of ${valid_from_slot}, it was not`];
  const problems: string[] = [];
  if (version.owner !== truth.owner) problems.push(`owner is ${version.owner}, not ${truth.owner}`);
  if (version.burnt !== (truth.where === 'burnt')) problems.push(`burnt is ${version.burnt}`);
  const group = truth.where === 'elsewhere' ? list.elsewhere : list.collection;
  if (version.collection !== group) problems.push(`collection is ${version.collection}, not ${group}`);
  const name = content_slot === null ? null : list.stateAt(id, content_slot)?.name;
  if (version.name !== name) problems.push(`name is ${version.name}, not ${name}`);
  return problems.map((what) => `the version of ${id} from ${valid_from_slot}: ${what}`);
}

/** Only what two nights were told to be unknown is called gone. */
function checkGone(list: AssetList, { id, gone_reason, valid_to_slot }: VersionRow): string[] {
  const nights = list.unknownIn(id).size;
  if (gone_reason === 'unknown' && nights >= 2) return [];
  return [`${id} is gone at ${valid_to_slot} (${gone_reason}), unknown in ${nights} nights`];
}

/** Versions follow each other without a hole, half-open, and each is another than the one before. */
function checkChain(versions: readonly VersionRow[]): string[] {
  return versions.flatMap((version, n) => {
    const text = `the version of ${version.id} from ${version.valid_from_slot}`;
    const before = versions[n - 1];
    if (version.valid_to_slot !== null && version.valid_to_slot <= version.valid_from_slot)
      return [`${text} ends at ${version.valid_to_slot}`];
    if (before === undefined) return [];
    if (before.gone_reason !== null)
      return before.valid_to_slot! <= version.valid_from_slot ? [] : [`${text} begins before it was gone`];
    if (before.valid_to_slot !== version.valid_from_slot)
      return [`${text} follows one that ends at ${before.valid_to_slot}`];
    const columns = ['owner', 'name', 'burnt', 'collection'] as const;
    return columns.some((column) => before[column] !== version[column]) ? [] : [`${text} changes nothing`];
  });
}

/** The last version is the row, if there is one; else it is gone. */
function checkCurrent(versions: readonly VersionRow[], row: AssetRow | undefined): string[] {
  const open = versions.filter(({ valid_to_slot }) => valid_to_slot === null);
  const last = versions.at(-1)!;
  if (row === undefined)
    return open.length === 0 && last.gone_reason !== null ? [] : [`${last.id} is not there and not gone`];
  return open.length === 1 && open[0] === last ? [] : [`${row.id} has ${open.length} current versions`];
}

/** What is past does not change. */
export function checkPast(before: readonly VersionRow[], after: readonly VersionRow[]): string[] {
  const now = new Set(after.map((version) => JSON.stringify(version)));
  return before
    .filter((version) => version.valid_to_slot !== null && !now.has(JSON.stringify(version)))
    .map(
      ({ id, valid_from_slot, valid_to_slot }) =>
        `${id} was otherwise from ${valid_from_slot} to ${valid_to_slot}`,
    );
}

function groupById(versions: readonly VersionRow[]): Map<string, VersionRow[]> {
  const groups = new Map<string, VersionRow[]>();
  for (const version of versions) groups.set(version.id, [...(groups.get(version.id) ?? []), version]);
  return groups;
}
