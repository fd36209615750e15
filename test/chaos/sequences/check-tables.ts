import type { JobSettings } from './job-settings.ts';
import type { Asset, Ledger, TokenAccount } from './ledger.ts';
import type { AccountFacts, AssetFacts, Confirmed, Span, Tables } from './tables.ts';

/** Everything that is wrong at any time, a sentence each: what no crawl, kill or edit may lead to. */
export function checkAlways(ledger: Ledger, tables: Tables): string[] {
  const { accounts, accountVersions, assets, assetVersions, signatures } = tables;
  return [
    ...checkKeys(
      'account',
      accounts.map(({ address }) => address),
    ),
    ...checkKeys(
      'asset',
      assets.map(({ id }) => id),
    ),
    ...checkKeys(
      'signature',
      signatures.map(({ signature }) => signature),
    ),
    ...accounts.flatMap((row) => checkAccount(ledger, row, row.slot)),
    ...accountVersions.flatMap((row) => checkAccount(ledger, row, row.valid_from_slot)),
    ...assets.flatMap((row) => checkAsset(ledger, row, row.slot)),
    ...assetVersions.flatMap((row) => checkAsset(ledger, row, row.valid_from_slot)),
    ...checkVersions(accounts, accountVersions, ({ address }) => address, accountText),
    ...checkVersions(assets, assetVersions, ({ id }) => id, assetText),
    ...checkSignatures(ledger, tables),
  ];
}

function checkKeys(what: string, keys: readonly string[]): string[] {
  const seen = new Set<string>();
  return keys.flatMap((key) => {
    const again = seen.has(key);
    seen.add(key);
    return again ? [`${what} ${key} is there twice`] : [];
  });
}

function accountText({ address, mint, owner, amount }: AccountFacts | TokenAccount): string {
  return `${address}: mint ${mint}, owner ${owner}, amount ${amount}`;
}

function assetText({ id, owner, collection, burnt, name, supply }: AssetFacts | Asset): string {
  return `${id}: owner ${owner}, collection ${collection}, burnt ${burnt}, name ${name}, supply ${supply}`;
}

/** A row was true at its slot, and a version at the slot it begins at. */
function checkAccount(ledger: Ledger, row: AccountFacts, slot: number): string[] {
  const truth = ledger.at(slot).accounts.get(row.address);
  if (truth === undefined) return [`${row.address} did not exist at ${slot}`];
  if (accountText(truth) === accountText(row)) return [];
  return [`at ${slot} the table says ${accountText(row)}; the ledger ${accountText(truth)}`];
}

/** Likewise; what came with an answer of its own was true at that answer's slot. */
function checkAsset(ledger: Ledger, row: AssetFacts, slot: number): string[] {
  const truth = ledger.at(slot).assets.get(row.id);
  if (truth === undefined) return [`${row.id} did not exist at ${slot}`];
  const { content_slot, token_info_slot } = row;
  const at = (other: number | null) => (other === null ? undefined : ledger.at(other).assets.get(row.id));
  const name = at(content_slot)?.name ?? null;
  const supply = at(token_info_slot)?.supply ?? null;
  const expected = assetText({ ...row, ...truth, name, supply });
  if (expected === assetText(row)) return [];
  return [
    `at ${slot} (content ${content_slot}, supply ${token_info_slot}) the table says ${assetText(row)}; the ledger ${expected}`,
  ];
}

/** Versions of a row follow each other, each another than the one before; the last is the row, or it is gone. */
function checkVersions<Row>(
  rows: readonly Row[],
  versions: readonly (Row & Span)[],
  keyOf: (row: Row) => string,
  textOf: (row: Row) => string,
): string[] {
  const current = new Map(rows.map((row) => [keyOf(row), textOf(row)]));
  const histories = new Map<string, (Row & Span)[]>();
  for (const version of versions)
    histories.set(keyOf(version), [...(histories.get(keyOf(version)) ?? []), version]);
  const without = [...current.keys()].filter((key) => !histories.has(key));
  return [
    ...without.map((key) => `${key} has no version`),
    ...[...histories].flatMap(([key, own]) => [
      ...checkChain(key, own, textOf),
      ...checkLast(key, own, current.get(key), textOf),
    ]),
  ];
}

function checkChain<Version extends Span>(
  key: string,
  versions: readonly Version[],
  textOf: (version: Version) => string,
): string[] {
  return versions.flatMap((version, n) => {
    const { valid_from_slot: from, valid_to_slot: to } = version;
    if (to !== null && to <= from) return [`the version of ${key} from ${from} ends at ${to}`];
    const before = versions[n - 1];
    if (before === undefined) return [];
    const text = `the version of ${key} from ${from}`;
    if (before.gone_reason !== null)
      return before.valid_to_slot! <= from
        ? []
        : [`${text} begins before it was gone, at ${before.valid_to_slot}`];
    if (before.valid_to_slot !== from) return [`${text} follows one that ends at ${before.valid_to_slot}`];
    return textOf(before) === textOf(version) ? [`${text} changes nothing`] : [];
  });
}

function checkLast<Version extends Span>(
  key: string,
  versions: readonly Version[],
  row: string | undefined,
  textOf: (version: Version) => string,
): string[] {
  const last = versions.at(-1)!;
  const open = versions.filter(({ valid_to_slot }) => valid_to_slot === null);
  if (row === undefined)
    return open.length === 0 && last.gone_reason !== null ? [] : [`${key} is not there and not gone`];
  if (open.length !== 1 || open[0] !== last) return [`${key} has ${open.length} current versions`];
  return textOf(last) === row ? [] : [`the table says ${row}; its history ${textOf(last)}`];
}

function checkSignatures(ledger: Ledger, { signatures, coverage }: Tables): string[] {
  const truth = new Map(ledger.now().signatures.map(({ signature, slot }) => [signature, slot]));
  const got = new Set(signatures.map(({ signature }) => signature));
  const wrong = signatures.filter(({ signature, slot }) => truth.get(signature) !== slot);
  const missing = coverage
    .filter(({ state }) => state === 'covered')
    .flatMap(({ job, low_slot, high_slot }) =>
      [...truth]
        .filter(([signature, slot]) => slot >= low_slot && slot <= high_slot && !got.has(signature))
        .map(([, slot]) => `a signature of ${slot} is missing, ${job} covers ${low_slot} to ${high_slot}`),
    );
  return [...wrong.map(({ signature, slot }) => `no signature ${signature} of ${slot}`), ...missing];
}

/** Between two commands no row goes back to an older slot, and what is past does not change. */
export function checkProgress(before: Tables, after: Tables): string[] {
  return [
    ...checkNoneWentBack(before.accounts, after.accounts, after.accountVersions, ({ address }) => address),
    ...checkNoneWentBack(before.assets, after.assets, after.assetVersions, ({ id }) => id),
    ...checkPast(before.accountVersions, after.accountVersions),
    ...checkPast(before.assetVersions, after.assetVersions),
  ];
}

/** A row that was gone may come again with an older answer. */
function checkNoneWentBack<Facts>(
  before: readonly (Facts & Confirmed)[],
  after: readonly (Facts & Confirmed)[],
  versions: readonly (Facts & Span)[],
  keyOf: (facts: Facts) => string,
): string[] {
  const slots = new Map(after.map((row) => [keyOf(row), row.slot]));
  const gone = new Set(versions.filter(({ gone_reason }) => gone_reason !== null).map(keyOf));
  return before
    .filter((row) => !gone.has(keyOf(row)))
    .filter((row) => (slots.get(keyOf(row)) ?? -1) < row.slot)
    .map((row) => `${keyOf(row)} went from ${row.slot} back to ${slots.get(keyOf(row)) ?? 'nothing'}`);
}

function checkPast(before: readonly Span[], after: readonly Span[]): string[] {
  const now = new Set(after.map((version) => JSON.stringify(version)));
  return before
    .filter(({ valid_to_slot }) => valid_to_slot !== null)
    .map((version) => JSON.stringify(version))
    .filter((version) => !now.has(version))
    .map((version) => `once there was ${version}`);
}

/**
 * After quiet nights: what the lists of the jobs show is in the tables, and nothing is that they would show and do
 * not. Rows that no list would show as they stand are a former target's, or a former job's: as last seen.
 * @param listsTellContent whether lists say all that look-ups say
 */
export function checkEnd(
  ledger: Ledger,
  settings: JobSettings,
  tables: Tables,
  listsTellContent: boolean,
): string[] {
  const { accounts, assets } = ledger.now();
  const { owners, mints, collections, content } = settings;
  const showsAccount = ({ owner, amount }: AccountFacts) =>
    mints !== null || (owners.targets.includes(owner) && (owners.showsEmpty || amount !== '0'));
  const showsAsset = ({ collection, burnt }: AssetFacts | Asset) =>
    !burnt && collections.targets.includes(collection);
  const asksAll = content?.of === 'all';
  const textOf = listsTellContent || asksAll ? assetText : assetTextWithoutContent;
  // Of an asset that left its lists the content is asked for, too.
  const known = tables.assets.filter((row) => showsAsset(row) || (asksAll && assets.has(row.id)));
  const ids = new Set(known.map(({ id }) => id));
  return [
    ...compareTexts(
      [...accounts.values()].filter(showsAccount).map(accountText),
      tables.accounts.filter(showsAccount).map(accountText),
    ),
    ...compareTexts(
      [...assets.values()].filter((asset) => showsAsset(asset) || ids.has(asset.id)).map(textOf),
      known.map((row) => (showsAsset(row) ? textOf(row) : assetText(row))),
    ),
    ...checkFeedEnd(ledger, settings, tables),
  ];
}

function assetTextWithoutContent({ id, owner, collection, burnt }: AssetFacts | Asset): string {
  return `${id}: owner ${owner}, collection ${collection}, burnt ${burnt}`;
}

function compareTexts(ledger: readonly string[], table: readonly string[]): string[] {
  const [expected, got] = [new Set(ledger), new Set(table)];
  return [
    ...ledger.filter((text) => !got.has(text)).map((text) => `only the ledger has ${text}`),
    ...table.filter((text) => !expected.has(text)).map((text) => `only the table has ${text}`),
  ];
}

function checkFeedEnd(ledger: Ledger, { feed }: JobSettings, { signatures, coverage }: Tables): string[] {
  const got = new Set(signatures.map(({ signature }) => signature));
  const missing = ledger.now().signatures.filter(({ signature }) => !got.has(signature)).length;
  const own = coverage.filter(({ job }) => job === feed.name);
  const isWhole = own.length === 1 && own[0]!.state === 'covered' && own[0]!.low_slot === 0;
  return [
    ...(missing === 0 ? [] : [`${missing} signatures are missing`]),
    ...(isWhole ? [] : [`the feed is ${JSON.stringify(own)}`]),
  ];
}
