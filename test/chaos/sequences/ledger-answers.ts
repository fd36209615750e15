import type { Draw } from '../../support/random.ts';
import { InvalidParams } from '../../support/scripted-api.ts';
import type { Asset, LedgerState, Signature, TokenAccount } from './ledger.ts';

/** How an API answers, the same throughout its life. */
export interface Manner {
  /** What lists say of an asset's content. */
  content: 'whole' | 'empty' | 'left out';
  /** Whether a page that ends a list has a cursor all the same. */
  lastCursor: boolean;
  /** Most records of a page, whatever was asked for. */
  mostRecords: number;
  /** What becomes of `before` and `after`. */
  bounds: 'kept' | 'refused' | 'ignored';
  /** How long cursors hold. */
  cursors: 'for ever' | 'one night';
}

export function drawManner(draw: Draw): Manner {
  return {
    content: draw.pick(['whole', 'empty', 'left out']),
    lastCursor: draw.chance(0.5),
    mostRecords: draw.pick([1000, 1000, 4]),
    bounds: draw.pick(['kept', 'kept', 'refused', 'ignored']),
    cursors: draw.pick(['for ever', 'for ever', 'one night']),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the parameters of four operations, as they come over the wire
export type Params = any;

/** What an answer depends on besides its request. */
export interface Source {
  state: LedgerState;
  manner: Manner;
  /** Its number, from 1. */
  night: number;
}

/** The text of the `result` of a request, as of a state of the ledger. @throws InvalidParams */
export function answer(method: string, params: Params, source: Source): string {
  switch (method) {
    case 'getTokenAccounts':
      return listAccounts(params, source);
    case 'getAssetsByGroup':
      return listAssets(params, source);
    case 'getAssetBatch':
      return lookUp(params, source.state);
    case 'getCompressionSignaturesForAddress':
      return listSignatures(params, source);
    default:
      throw new InvalidParams(`no method ${method}`);
  }
}

function listAccounts(params: Params, source: Source): string {
  const { owner, mint, options } = params;
  const listed = [...source.state.accounts.values()]
    .filter(
      (account) => (owner ?? account.owner) === account.owner && (mint ?? account.mint) === account.mint,
    )
    .filter(({ amount }) => options?.showZeroBalance === true || amount !== '0')
    .map((account) => ({ id: account.address, changedAt: 0, text: accountText(account) }));
  return page('token_accounts', listed, params, source);
}

function listAssets(params: Params, source: Source): string {
  const listed = [...source.state.assets.values()]
    .filter(({ collection, burnt }) => collection === params.groupValue && !burnt)
    .map((asset) => ({ ...asset, text: assetText(asset, source.manner.content) }));
  return page('items', listed, params, source);
}

interface Listed {
  id: string;
  changedAt: number;
  text: string;
}

/** Ids descend unless they are asked for otherwise; the newest change is first where that is asked for. @throws InvalidParams */
function page(member: string, listed: readonly Listed[], params: Params, source: Source): string {
  const { slot } = source.state;
  const { mostRecords, lastCursor } = source.manner;
  const { after, before, page: number = 1 } = params;
  const limit = Math.min(params.limit, mostRecords);
  const within = selectListed(listed, params, source);
  const items = within.slice((number - 1) * limit, number * limit);
  const walks = params.page === undefined && after === undefined && before === undefined;
  const goesOn = walks && items.length > 0 && (lastCursor || within.length > limit);
  const next = goesOn ? `,"cursor":"${writeCursor(items.at(-1)!.id, source)}"` : '';
  const texts = items.map(({ text }) => text);
  return `{"last_indexed_slot":${slot},"total":${items.length},"limit":${limit},"${member}":[${texts}]${next}}`;
}

/** What of a list lies behind the cursor and within the bounds, in order. @throws InvalidParams */
function selectListed(listed: readonly Listed[], params: Params, source: Source): Listed[] {
  const { bounds } = source.manner;
  const { cursor, after, before, sortBy } = params;
  if (bounds === 'refused' && (after ?? before) !== undefined)
    throw new InvalidParams('unknown field `before`, expected `cursor`');
  const ascending = sortBy?.sortBy === 'id' && sortBy.sortDirection === 'asc';
  const recent = sortBy !== undefined && sortBy.sortBy !== 'id';
  const upwards = (a: Listed, b: Listed) => (a.id < b.id ? -1 : 1);
  const sorted = [...listed].sort((a, b) => (ascending ? upwards(a, b) : upwards(b, a)));
  if (recent) sorted.sort((a, b) => b.changedAt - a.changedAt);
  const last = cursor === undefined ? null : readCursor(cursor, source);
  return sorted
    .filter(({ id }) => last === null || (ascending ? id > last : id < last))
    .filter(({ id }) => bounds === 'ignored' || (id > (after ?? '') && id < (before ?? '~')));
}

function writeCursor(place: string, { night }: Source): string {
  return Buffer.from(`${night} ${place}`).toString('hex');
}

/** @throws InvalidParams */
function readCursor(cursor: string, { night, manner }: Source): string {
  const [from, place] = Buffer.from(cursor, 'hex').toString().split(' ');
  if (manner.cursors === 'one night' && from !== String(night)) throw new InvalidParams('Invalid cursor');
  return place!;
}

function lookUp({ ids }: Params, { assets, slot }: LedgerState): string {
  const texts = (ids as string[]).map((id) => {
    const asset = assets.get(id);
    if (asset === undefined) return 'null';
    return assetText(asset, 'whole').replace('{', `{"last_indexed_slot":${slot},`);
  });
  return `[${texts}]`;
}

function listSignatures({ limit, cursor }: Params, source: Source): string {
  const { signatures, slot } = source.state;
  const below = cursor === undefined ? signatures : signaturesBelow(readCursor(cursor, source), signatures);
  const items = below.slice(0, limit);
  const last = items.at(-1);
  const goesOn = below.length > limit && last !== undefined;
  const next = goesOn ? `"${writeCursor(`${last.slot}:${last.signature}`, source)}"` : 'null';
  return `{"context":{"slot":${slot}},"value":{"items":[${items.map(signatureText)}],"cursor":${next}}}`;
}

/** Also where a replica that is behind does not have the place's own signature yet. */
function signaturesBelow(place: string, signatures: readonly Signature[]): readonly Signature[] {
  const [slot, signature] = place.split(':');
  const from = signatures.findIndex((one) => one.signature === signature);
  if (from >= 0) return signatures.slice(from + 1);
  return signatures.filter((one) => one.slot < Number(slot));
}

function signatureText({ signature, slot }: Signature): string {
  return `{"signature":"${signature}","slot":${slot},"blockTime":${1_700_000_000 + slot}}`;
}

/** Written by hand: a u64 is no JavaScript number. */
function accountText({ address, mint, owner, amount }: TokenAccount): string {
  return `{"address":"${address}","mint":"${mint}","owner":"${owner}","amount":${amount},"delegated_amount":0,"frozen":false}`;
}

function assetText(
  { id, owner, collection, burnt, name, supply }: Asset,
  content: Manner['content'],
): string {
  const parts = {
    whole: `"content":{"metadata":{"name":"${name}","symbol":"SEQ"}},"token_info":{"supply":${supply},"decimals":2},`,
    empty: '"content":{},',
    'left out': '',
  };
  return `{"interface":"V1_NFT","id":"${id}",${parts[content]}"ownership":{"frozen":false,"owner":"${owner}"},"grouping":[{"group_key":"collection","group_value":"${collection}"}],"burnt":${burnt}}`;
}
