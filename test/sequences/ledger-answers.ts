import { Refused } from '../properties/refused.ts';
import type { Asset, LedgerState, Signature, TokenAccount } from './ledger.ts';

/** How an API answers, the same throughout its life. */
export interface Manner {
  /** What lists say of an asset's content. */
  content: 'whole' | 'empty' | 'left out';
  /** Whether a page that ends a list has a cursor all the same. */
  lastCursor: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the parameters of four operations, as they come over the wire
export type Params = any;

/** The text of the `result` of a request, as of a state of the ledger. @throws Refused */
export function answer(method: string, params: Params, state: LedgerState, manner: Manner): string {
  switch (method) {
    case 'getTokenAccounts':
      return listAccounts(params, state, manner);
    case 'getAssetsByGroup':
      return listAssets(params, state, manner);
    case 'getAssetBatch':
      return lookUp(params, state);
    case 'getCompressionSignaturesForAddress':
      return listSignatures(params, state);
    default:
      throw new Refused(`no method ${method}`);
  }
}

function listAccounts(params: Params, state: LedgerState, manner: Manner): string {
  const { owner, mint, options } = params;
  const listed = [...state.accounts.values()]
    .filter(
      (account) => (owner ?? account.owner) === account.owner && (mint ?? account.mint) === account.mint,
    )
    .filter(({ amount }) => options?.showZeroBalance === true || amount !== '0')
    .map((account) => ({ id: account.address, changedAt: 0, text: accountText(account) }));
  return page('token_accounts', listed, params, state, manner);
}

function listAssets(params: Params, state: LedgerState, manner: Manner): string {
  const listed = [...state.assets.values()]
    .filter(({ collection, burnt }) => collection === params.groupValue && !burnt)
    .map((asset) => ({ ...asset, text: assetText(asset, manner.content) }));
  return page('items', listed, params, state, manner);
}

interface Listed {
  id: string;
  changedAt: number;
  text: string;
}

/** Ids descend unless they are asked for otherwise; the newest change is first where that is asked for. */
function page(
  member: string,
  listed: readonly Listed[],
  { limit, page: number, cursor, after, before, sortBy }: Params,
  { slot }: LedgerState,
  { lastCursor }: Manner,
): string {
  const ascending = sortBy?.sortBy === 'id' && sortBy.sortDirection === 'asc';
  const recent = sortBy !== undefined && sortBy.sortBy !== 'id';
  const upwards = (a: Listed, b: Listed) => (a.id < b.id ? -1 : 1);
  const sorted = [...listed].sort((a, b) => (ascending ? upwards(a, b) : upwards(b, a)));
  if (recent) sorted.sort((a, b) => b.changedAt - a.changedAt);
  const last = cursor === undefined ? null : Buffer.from(cursor, 'hex').toString();
  const within = sorted
    .filter(({ id }) => last === null || (ascending ? id > last : id < last))
    .filter(({ id }) => (after === undefined || id > after) && (before === undefined || id < before));
  const from = ((number ?? 1) - 1) * limit;
  const items = within.slice(from, from + limit);
  const walks = number === undefined && after === undefined && before === undefined;
  const goesOn = walks && items.length > 0 && (lastCursor || within.length > limit);
  const next = goesOn ? `,"cursor":"${Buffer.from(items.at(-1)!.id).toString('hex')}"` : '';
  const texts = items.map(({ text }) => text);
  return `{"last_indexed_slot":${slot},"total":${items.length},"limit":${limit},"${member}":[${texts}]${next}}`;
}

function lookUp({ ids }: Params, { assets, slot }: LedgerState): string {
  const texts = (ids as string[]).map((id) => {
    const asset = assets.get(id);
    if (asset === undefined) return 'null';
    return assetText(asset, 'whole').replace('{', `{"last_indexed_slot":${slot},`);
  });
  return `[${texts}]`;
}

function listSignatures({ limit, cursor }: Params, { signatures, slot }: LedgerState): string {
  const below = cursor === undefined ? signatures : signaturesBelow(cursor, signatures);
  const items = below.slice(0, limit);
  const last = items.at(-1);
  const next = below.length > limit && last !== undefined ? `"${last.slot}:${last.signature}"` : 'null';
  return `{"context":{"slot":${slot}},"value":{"items":[${items.map(signatureText)}],"cursor":${next}}}`;
}

/** Also where a replica that is behind does not have the cursor's own signature yet. */
function signaturesBelow(cursor: string, signatures: readonly Signature[]): readonly Signature[] {
  const [slot, signature] = cursor.split(':');
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
