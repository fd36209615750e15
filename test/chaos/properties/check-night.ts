import { checkAssets, checkCalm, checkProgress } from './check-assets.ts';
import { checkCoverageStays, checkFeed, checkWhole } from './check-feeds.ts';
import { checkHistory, checkPast } from './check-history.ts';
import { inFlight, type MovingInstallation, type NightEnded, sinceSlot } from './moving-installation.ts';
import type { SignatureFeed } from './signature-feed.ts';
import type { Tables } from './warehouse-rows.ts';

/** What is wrong with one ledger. */
export interface Violation {
  /** 0: of none in particular. */
  seed: number;
  of: 'list' | 'feed' | 'all';
  what: string;
}

/** Every ledger's rows against its truth, and against the rows of the night before. */
export function checkNight(place: MovingInstallation, tables: Tables, before: Tables | null): Violation[] {
  const lists = place.lists.flatMap((list) => {
    const own = <T extends { id: string }>(rows: readonly T[]) => rows.filter(({ id }) => list.has(id));
    const rows = own(tables.assets);
    const versions = own(tables.versions);
    const checkpoints = tables.checkpoints.filter(({ target }) => target === list.collection);
    const problems = [
      ...checkAssets(list, rows, versions, checkpoints),
      ...checkProgress(own(before?.assets ?? []), rows, versions),
      ...checkHistory(list, rows, versions),
      ...checkPast(own(before?.versions ?? []), versions),
    ];
    return problems.map((what) => ({ seed: list.seed, of: 'list' as const, what }));
  });
  const feeds = place.feeds.flatMap((feed) => {
    const { rows, coverage } = ofFeed(feed, tables);
    const problems = [
      ...checkFeed(feed, rows, coverage),
      ...checkCoverageStays(before === null ? [] : ofFeed(feed, before).coverage, coverage),
    ];
    return problems.map((what) => ({ seed: feed.seed, of: 'feed' as const, what }));
  });
  return [...lists, ...feeds, ...checkInvented(place, tables)];
}

function ofFeed({ address }: SignatureFeed, { signatures, coverage }: Tables) {
  return {
    rows: signatures.filter((row) => row.address === address),
    coverage: coverage.filter(({ target }) => target === address),
  };
}

function checkInvented({ lists, feeds }: MovingInstallation, tables: Tables): Violation[] {
  const strangers = [
    ...tables.assets.filter(({ id }) => !lists.some((list) => list.has(id))).map(({ id }) => id),
    ...tables.signatures.filter(({ address }) => !feeds.some((feed) => feed.address === address)),
    ...tables.twice,
  ];
  return strangers.map((row) => ({ seed: 0, of: 'all', what: `nobody knows ${JSON.stringify(row)}` }));
}

/** Nothing that a moving ledger answers is wrong, so no guard holds a night back. */
export function checkRefused({ code, refused }: NightEnded): Violation[] {
  const found = code === 4 && refused.length === 0 ? ['rows wait for a second look'] : refused;
  return found.map((what) => ({ seed: 0, of: 'all', what: `a true night ended with ${code}: ${what}` }));
}

/** A calm night is complete: no target fails in it, or only such whose cursors have expired. */
export function checkComplete(
  { lists, feeds }: MovingInstallation,
  { code, stderr }: NightEnded,
  mayFail: 'none may fail' | 'expired cursors may fail' = 'none may fail',
): Violation[] {
  if (code === 0) return [];
  const logged = stderr.split('\n').filter((line) => line.startsWith('{') && line.includes('"reason"'));
  const failed = logged.flatMap((line): Violation[] => {
    const { job, target, reason } = JSON.parse(line) as Record<'job' | 'target' | 'reason', string>;
    if (mayFail === 'expired cursors may fail' && reason.includes('Invalid cursor')) return [];
    const list = lists.find(({ collection }) => collection === target);
    const seed = (list ?? feeds.find(({ address }) => address === target))?.seed ?? 0;
    return [{ seed, of: list === undefined ? 'feed' : 'list', what: `${job} failed: ${reason}` }];
  });
  const isComplete = code === 3 && failed.length === 0 && mayFail === 'expired cursors may fail';
  return isComplete ? [] : [...failed, { seed: 0, of: 'all', what: `a calm night ended with ${code}` }];
}

/**
 * After calm nights the tables are what the ledgers are.
 * @param began slot of each feed when the last night began
 * @param goneIsKnown as of `checkCalm`
 */
export function checkEnd(
  place: MovingInstallation,
  tables: Tables,
  began: ReadonlyMap<SignatureFeed, number>,
  goneIsKnown: boolean,
): Violation[] {
  const lists = place.lists.flatMap((list) => {
    // Page numbers promise nothing beyond what was seen.
    if (place.jobOfList(list) === 'recent') return [];
    const problems = checkCalm(list, tables.assets, goneIsKnown);
    return problems.map((what) => ({ seed: list.seed, of: 'list' as const, what }));
  });
  const feeds = place.feeds.flatMap((feed) => {
    const job = place.jobOf(feed);
    // Two pages a night promise nothing below them.
    if (job === 'feed-pages') return [];
    const from = job === 'feed-all' ? 0 : sinceSlot;
    const problems = checkWhole(ofFeed(feed, tables).coverage, from, began.get(feed)!);
    return problems.map((what) => ({ seed: feed.seed, of: 'feed' as const, what }));
  });
  return [...lists, ...feeds];
}

/** Exit codes after which the next night asks for everything again. */
const roundEnds: ReadonlySet<number | null> = new Set([0, 3]);

/** Within a round, a page of a list is asked for again only where a kill caught it in flight. */
export function checkAskedAgain({ server }: MovingInstallation, nights: readonly NightEnded[]): Violation[] {
  const problems: Violation[] = [];
  let round: number[] = [];
  for (const [n, { code }] of nights.entries()) {
    round.push(n + 1);
    if (!roundEnds.has(code) && n < nights.length - 1) continue;
    const kills = round.filter((night) => nights[night - 1]!.code === null).length;
    const asked = new Map<string, number[]>();
    const firstLooks = new Map<string, number>();
    for (const { night, list, asked: what, behind, empty } of server.answered) {
      // A crawl may begin again where its cursor was refused, and asks again what a replica behind answered.
      if (!round.includes(night) || list === null || list.expires || behind) continue;
      // An empty page ends a list when a second look agrees, for which the night's budget may not suffice.
      if (empty && firstLooks.get(what) !== night) firstLooks.set(what, night);
      else asked.set(what, [...(asked.get(what) ?? []), night]);
    }
    const twice = [...asked].filter(([, inNights]) => inNights.length > 1);
    const again = twice.reduce((sum, [, inNights]) => sum + inNights.length - 1, 0);
    const which = twice.slice(0, 10).map(([what, inNights]) => `${what} in nights ${inNights.join(', ')}`);
    if (again > kills * inFlight)
      problems.push({
        ...{ seed: 0, of: 'all' },
        what: `${again} pages were asked for again after ${kills} kills: ${which.join('; ')}`,
      });
    round = [];
  }
  return problems;
}
