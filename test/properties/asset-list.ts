import { createDraw, type Draw, drawAddress } from './draw.ts';
import { createReplicas } from './replicas.ts';

/** Where an asset is: in the list, in another collection, burnt, or unknown to everybody. */
export type Whereabouts = 'listed' | 'elsewhere' | 'burnt' | 'gone';

export interface AssetState {
  owner: string;
  name: string;
  where: Whereabouts;
}

/** What one seed makes of its list. */
interface Habits {
  size: number;
  /** Most changes a request. */
  changes: number;
  /** Share of pages that are shorter than asked for. */
  short: number;
  /** Whether lists carry content; else only look-ups do. */
  content: boolean;
  cursor: 'id' | 'opaque';
}

interface Version extends AssetState {
  slot: number;
}

export interface ListParams {
  limit: number;
  cursor?: string;
  page?: number;
}

/** One collection of a ledger that moves with every request for it, and its whole truth. */
export interface AssetList {
  readonly seed: number;
  readonly collection: string;
  /** Everything that ever existed. */
  ids(): string[];
  has(id: string): boolean;
  readonly content: boolean;
  readonly elsewhere: string;
  /** One answer to getAssetsByGroup, as the text of its `result`. */
  page(params: ListParams): string;
  /** One answer to getAssetBatch: a record's text, or `null`, for each of its ids. */
  lookUp(ids: readonly string[]): string[];
  /** Time passes between two nights. */
  sleep(): void;
  /** From now on only the slot moves, and every answer is the newest. */
  calm(): void;
  now(): number;
  stateAt(id: string, slot: number): AssetState | null;
  /** Slots at which answers showed the asset. */
  shownAt(id: string): ReadonlySet<number>;
  isListedThroughout(id: string, from: number, to: number): boolean;
  /** Oldest first, a line an answer. */
  readonly trace: readonly string[];
}

/** @param numbered the provider has page numbers only: it gives no cursor and ignores one */
export function createAssetList(seed: number, numbered = false): AssetList {
  const draw = createDraw(seed * 2);
  const habits = drawHabits(draw);
  const replicas = createReplicas(draw, 1000 + draw.between(0, 3e8), [0, 0, 0.1, 0.3]);
  const [collection, elsewhere] = [drawAddress(draw), drawAddress(draw)];
  const versions = new Map<string, Version[]>();
  const shown = new Map<string, Set<number>>();
  const trace: string[] = [];
  for (let n = 0; n < habits.size; n += 1) create(draw, versions, replicas.now());
  const stateAt = (id: string, slot: number) => versions.get(id)?.findLast((v) => v.slot <= slot) ?? null;
  const move = () => {
    if (!replicas.step()) return;
    for (let n = draw.between(0, habits.changes); n > 0; n -= 1) change(draw, versions, replicas.now());
  };
  const listedAt = (slot: number) =>
    [...versions.keys()]
      .filter((id) => stateAt(id, slot)?.where === 'listed')
      .sort((a, b) => (a < b ? 1 : -1));
  const show = (id: string, slot: number, withContent: boolean) => {
    shown.set(id, (shown.get(id) ?? new Set()).add(slot));
    return recordText(
      id,
      stateAt(id, slot)!,
      stateAt(id, slot)!.where === 'elsewhere' ? elsewhere : collection,
      withContent,
    );
  };
  return {
    ...{ seed, collection, elsewhere, content: habits.content, trace },
    ids: () => [...versions.keys()],
    has: (id) => versions.has(id),
    page({ limit, cursor, page }) {
      move();
      const slot = replicas.answerAt();
      const listed = listedAt(slot);
      const size = !replicas.isCalm() && draw.chance(habits.short) ? draw.between(1, limit) : limit;
      const below = cursor === undefined || numbered ? null : readCursor(cursor);
      const from = below === null ? 0 : listed.filter((id) => id >= below).length;
      const start = numbered ? ((page ?? 1) - 1) * limit : from;
      const ids = listed.slice(start, start + (numbered ? limit : size));
      trace.push(
        `at ${replicas.now()}: page below ${below?.slice(0, 6) ?? 'the top'} as of ${slot}: ${shorten(ids)}`,
      );
      const last = ids.at(-1);
      const next = last === undefined || numbered ? '' : `,"cursor":"${writeCursor(last, habits.cursor)}"`;
      const items = ids.map((id) => show(id, slot, habits.content));
      return `{"last_indexed_slot":${slot},"total":${ids.length},"limit":${limit},"items":[${items}]${next}}`;
    },
    lookUp(ids) {
      move();
      const slot = replicas.answerAt();
      trace.push(`at ${replicas.now()}: look-up as of ${slot}: ${shorten(ids)}`);
      return ids.map((id) => {
        const where = stateAt(id, slot)?.where ?? 'gone';
        if (where === 'gone') return 'null';
        return show(id, slot, true).replace('{', `{"last_indexed_slot":${slot},`);
      });
    },
    sleep() {
      for (let n = draw.between(0, 8); n > 0; n -= 1) move();
    },
    calm: replicas.calm,
    now: replicas.now,
    stateAt,
    shownAt: (id) => shown.get(id) ?? new Set(),
    isListedThroughout: (id, from, to) =>
      stateAt(id, from)?.where === 'listed' &&
      versions.get(id)!.every(({ slot, where }) => slot <= from || slot > to || where === 'listed'),
  };
}

function drawHabits(draw: Draw): Habits {
  return {
    size: draw.pick([0, 1, 8, 20, 40, 60]),
    changes: draw.pick([0, 1, 2, 4]),
    short: draw.pick([0, 0.2, 0.6]),
    content: draw.chance(0.6),
    cursor: draw.pick(['id', 'opaque']),
  };
}

function create(draw: Draw, versions: Map<string, Version[]>, slot: number): void {
  versions.set(drawAddress(draw), [
    { slot, owner: drawAddress(draw), name: draw.base58(6), where: 'listed' },
  ]);
}

/** One thing happens: an asset is made, sold, renamed, burnt, moved out of the list or back into it. */
function change(draw: Draw, versions: Map<string, Version[]>, slot: number): void {
  const [id, history] = versions.size === 0 ? [] : draw.pick([...versions]);
  const last = history?.at(-1);
  if (id === undefined || last === undefined || draw.chance(versions.size < 60 ? 0.3 : 0.05)) {
    create(draw, versions, slot);
    return;
  }
  if (last.where === 'burnt') return;
  const next: Version = { ...last, slot };
  if (draw.chance(0.3)) next.owner = drawAddress(draw);
  else if (draw.chance(0.2)) next.name = draw.base58(6);
  else
    next.where = last.where === 'listed' ? draw.pick(['elsewhere', 'elsewhere', 'burnt', 'gone']) : 'listed';
  // Answers show a slot only when it is over: of several changes in it the last one counts.
  versions.set(id, [...history!.filter((version) => version.slot < slot), next]);
}

function recordText(id: string, { owner, name, where }: AssetState, group: string, content: boolean): string {
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

function shorten(ids: readonly string[]): string {
  return ids.map((id) => id.slice(0, 6)).join(' ');
}

function writeCursor(id: string, form: Habits['cursor']): string {
  return form === 'id' ? id : `c:${Buffer.from(id).toString('base64url')}`;
}

function readCursor(cursor: string): string {
  return cursor.startsWith('c:') ? Buffer.from(cursor.slice(2), 'base64url').toString() : cursor;
}
