import { createDraw, type Draw, drawAddress } from '../../support/random.ts';
import { InvalidParams } from '../../support/scripted-api.ts';
import { type AssetTruth, createAssetTruth, type Version } from './asset-truth.ts';
import { createCursors } from './cursors.ts';
import { createReplicas } from './replicas.ts';

/** How an API lets its lists be walked. `numbers`: by page number only, no cursor is given and one sent is ignored. */
export type Walks = 'cursors' | 'numbers';

/** What one seed makes of its list. */
interface Habits {
  size: number;
  /** Most changes a request. */
  changes: number;
  /** Share of pages that are shorter than asked for. */
  short: number;
  /** Whether lists carry content; else only look-ups do. */
  content: boolean;
  /** What becomes of `before` and `after`. */
  bounds: 'kept' | 'kept' | 'refused' | 'ignored';
}

export interface ListParams {
  groupKey: string;
  groupValue: string;
  limit: number;
  cursor?: string;
  page?: number;
  before?: string;
  after?: string;
  sortBy?: { sortBy: string; sortDirection: string };
}

/** One answer, and whether it came from a replica that is behind. */
export interface ListAnswer {
  /** The text of its `result`. */
  text: string;
  behind: boolean;
}

/** One collection of a ledger that moves with every request for it, and its whole truth. */
export interface AssetList extends Pick<AssetTruth, 'ids' | 'has' | 'stateAt' | 'isListedThroughout'> {
  readonly seed: number;
  readonly collection: string;
  /** The collection that assets leave for. */
  readonly elsewhere: string;
  readonly content: boolean;
  /** Whether cursors are refused before the walk is over. */
  readonly expires: boolean;
  /** One answer to getAssetsByGroup. @throws InvalidParams */
  page(params: ListParams): ListAnswer;
  /** One answer to getAssetBatch: a record's text, or `null`, for each of its ids. */
  lookUp(ids: readonly string[]): string[];
  /** Time passes between two nights. */
  sleep(): void;
  /** From now on only the slot moves, and every answer is the newest. */
  calm(): void;
  now(): number;
  /** Nights in which a look-up was told that there is no such asset. */
  unknownIn(id: string): ReadonlySet<number>;
  /** Slots at which answers showed the asset. */
  shownAt(id: string): ReadonlySet<number>;
  /** Oldest first, a line an answer. */
  readonly trace: readonly string[];
}

export function createAssetList(seed: number, walks: Walks = 'cursors'): AssetList {
  const draw = createDraw(seed * 2);
  const habits = drawHabits(draw);
  // Lists of one source stand at slots near each other.
  const replicas = createReplicas(draw, 1000 + draw.between(0, 50_000), [0, 0, 0.1, 0.3]);
  const cursors = createCursors(draw, replicas);
  const [collection, elsewhere] = [drawAddress(draw), drawAddress(draw)];
  const truth = createAssetTruth(draw);
  const shown = new Map<string, Set<number>>();
  const unknown = new Map<string, Set<number>>();
  let night = 0;
  const trace: string[] = [];
  for (let n = 0; n < habits.size; n += 1) truth.create(replicas.now());
  const move = () => {
    if (!replicas.step()) return;
    for (let n = draw.between(0, habits.changes); n > 0; n -= 1) truth.change(replicas.now());
  };
  const show = (id: string, slot: number, content: boolean) => {
    shown.set(id, (shown.get(id) ?? new Set()).add(slot));
    const state = truth.stateAt(id, slot)!;
    return recordText(id, state, state.where === 'elsewhere' ? elsewhere : collection, content);
  };
  const say = (what: string, slot: number) => trace.push(`at ${replicas.now()}, as of ${slot}: ${what}`);
  return {
    ...{ seed, collection, elsewhere, content: habits.content, expires: cursors.expire, trace },
    ...{ ids: truth.ids, has: truth.has, stateAt: truth.stateAt },
    isListedThroughout: truth.isListedThroughout,
    page(params) {
      move();
      const { limit } = params;
      const slot = replicas.answerAt();
      const short = !replicas.isCalm() && draw.chance(habits.short);
      const size = short && walks === 'cursors' ? draw.between(1, limit) : limit;
      const { groupKey, groupValue, ...asked } = params;
      say(JSON.stringify(asked), slot);
      const start = walks === 'numbers' ? withoutCursor(params) : readStart(params, habits, cursors.read);
      const ids = sliceList(truth, start, slot, size);
      trace.push(`  ${shorten(ids)}`);
      const last = ids.at(-1);
      const isWalk = walks === 'cursors' && start.page === undefined && start.bounded !== true;
      const next = isWalk && last !== undefined ? `,"cursor":"${cursors.write(last)}"` : '';
      const items = ids.map((id) => show(id, slot, habits.content));
      return {
        text: `{"last_indexed_slot":${slot},"total":${ids.length},"limit":${limit},"items":[${items}]${next}}`,
        behind: slot < replicas.now(),
      };
    },
    lookUp(ids) {
      move();
      const slot = replicas.answerAt();
      say(`look-up ${shorten(ids)}`, slot);
      return ids.map((id) => {
        if ((truth.stateAt(id, slot)?.where ?? 'gone') === 'gone') {
          unknown.set(id, (unknown.get(id) ?? new Set()).add(night));
          return 'null';
        }
        return show(id, slot, true).replace('{', `{"last_indexed_slot":${slot},`);
      });
    },
    sleep() {
      night += 1;
      cursors.sleep();
      for (let n = draw.between(0, 8); n > 0; n -= 1) move();
    },
    calm: replicas.calm,
    now: replicas.now,
    unknownIn: (id) => unknown.get(id) ?? new Set(),
    shownAt: (id) => shown.get(id) ?? new Set(),
  };
}

function shorten(ids: readonly string[]): string {
  return ids.map((id) => id.slice(0, 6)).join(' ');
}

function drawHabits(draw: Draw): Habits {
  return {
    size: draw.pick([0, 1, 8, 20, 40, 60]),
    changes: draw.pick([0, 1, 2, 4]),
    short: draw.pick([0, 0.2, 0.6]),
    content: draw.chance(0.6),
    bounds: draw.pick(['kept', 'kept', 'refused', 'ignored']),
  };
}

/** What of a list a request asks for: ids between two others (exclusive), or a page. */
interface Start {
  above: string;
  below: string;
  ascending: boolean;
  /** Newest change first. */
  recent: boolean;
  page?: number;
  limit: number;
  /** It was asked for by bounds: the answer has no cursor. */
  bounded?: boolean;
}

function withoutCursor({ limit, page = 1 }: ListParams): Start {
  return { above: '', below: '~', ascending: false, recent: false, page, limit };
}

/** @throws InvalidParams */
function readStart(
  { limit, page, cursor, before, after, sortBy }: ListParams,
  { bounds }: Habits,
  readCursor: (cursor: string) => string,
): Start {
  const ascending = sortBy?.sortBy === 'id' && sortBy.sortDirection === 'asc';
  const recent = sortBy !== undefined && sortBy.sortBy !== 'id';
  const whole = { above: '', below: '~', ascending, recent, limit };
  if (page !== undefined) return { ...whole, page };
  if (recent) throw new InvalidParams('only pages are sorted so');
  if (cursor !== undefined) return { ...whole, [ascending ? 'above' : 'below']: readCursor(cursor) };
  if ((before === undefined && after === undefined) || bounds === 'ignored') return whole;
  if (bounds === 'refused') throw new InvalidParams('unknown field `before`, expected `cursor`');
  return { ...whole, above: after ?? '', below: before ?? '~', bounded: true };
}

function sliceList(truth: AssetTruth, start: Start, slot: number, size: number): string[] {
  const listed = truth.listedAt(slot).filter((id) => id > start.above && id < start.below);
  if (start.ascending) listed.reverse();
  const changed = (id: string) => truth.stateAt(id, slot)!.slot;
  if (start.recent) listed.sort((a, b) => changed(b) - changed(a));
  const from = ((start.page ?? 1) - 1) * start.limit;
  return listed.slice(from, from + size);
}

function recordText(id: string, { owner, name, where }: Version, group: string, content: boolean): string {
  return JSON.stringify({
    interface: 'V1_NFT',
    id,
    ...(content ? { content: { metadata: { name, symbol: 'SIM' } } } : {}),
    grouping: [{ group_key: 'collection', group_value: group }],
    ownership: { frozen: false, delegated: false, delegate: null, ownership_model: 'single', owner },
    mutable: true,
    burnt: where === 'burnt',
  });
}
