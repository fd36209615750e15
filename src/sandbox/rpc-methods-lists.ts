import { type AssetView, assetOptions } from './asset-text.ts';
import { sortBy } from './key-table.ts';
import { cutPage, isLoose, type PagingParams, pageText, pagingParams } from './list-paging.ts';
import { type AnswerContext, badParams, type RpcMethod } from './rpc-method.ts';
import type { World } from './world.ts';
import type { WorldAssets } from './world-assets.ts';

/** The `sortBy.sortBy` words of the asset lists. */
const sortKeys = ['id', 'created', 'updated', 'recent_action', 'none'] as const;
type SortKey = (typeof sortKeys)[number];

const assetListParams = {
  ...pagingParams,
  sortBy: { sortBy: sortKeys, sortDirection: ['asc', 'desc'] },
  options: assetOptions,
} as const;

interface AssetListParams extends PagingParams {
  sortBy?: { sortBy?: SortKey; sortDirection?: 'asc' | 'desc' };
  options?: Omit<AssetView, 'content' | 'slot'>;
}

const getAssetsByGroup: RpcMethod = {
  name: 'getAssetsByGroup',
  pool: 'das',
  params: { groupKey: 'string', groupValue: 'string', ...assetListParams },
  required: ['groupKey', 'groupValue'],
  answer(params, context) {
    const { groupKey, groupValue } = params as { groupKey: string; groupValue: string };
    const { assets } = context.world;
    const collection = groupKey === 'collection' ? assets.collectionKeys.find(groupValue) : -1;
    return listAssets(assets.inCollection(collection), params, context);
  },
};

const getAssetsByCreator: RpcMethod = {
  name: 'getAssetsByCreator',
  pool: 'das',
  params: { creatorAddress: 'string', onlyVerified: 'boolean', ...assetListParams },
  required: ['creatorAddress'],
  answer(params, context) {
    const { creatorAddress, onlyVerified } = params as { creatorAddress: string; onlyVerified?: boolean };
    const { assets } = context.world;
    const creator = assets.creatorKeys.find(creatorAddress);
    return listAssets(assets.byCreator(creator, onlyVerified ?? false), params, context);
  },
};

function listAssets(rows: Uint32Array, params: AssetListParams, context: AnswerContext): string {
  const { world, slot, pageOnly } = context;
  const { assets } = world;
  const by = params.sortBy?.sortBy ?? 'id';
  const page = cutPage(
    {
      keys: assets.keys,
      rows,
      // Lists show only assets with a supply, which burnt ones do not have.
      keeps: (row) => !assets.isBurnt(row),
      dropsLate: world.quirks,
      descending: params.sortBy?.sortDirection !== 'asc',
      ...(by === 'id' ? {} : { sorted: { by, rows: () => sortRows(assets, rows, by) } }),
    },
    params,
    pageOnly,
  );
  const view: AssetView = { content: 'list', ...params.options };
  const records = page.rows.map((row) => world.assetWriter.write(row, view));
  return pageText('items', page, records, slot, isLoose(page.rows, world.quirks));
}

/** Sorted lists by list and key; a tick makes new lists. */
const sortedLists = new WeakMap<Uint32Array, Map<SortKey, Uint32Array>>();

/** The rows of an asset list in ascending order of a sort key, ties by id; `none` is an arbitrary order. */
function sortRows(assets: WorldAssets, rows: Uint32Array, key: SortKey): Uint32Array {
  const byKey = sortedLists.get(rows) ?? new Map<SortKey, Uint32Array>();
  sortedLists.set(rows, byKey);
  const sorted = byKey.get(key) ?? orderRows(assets, rows, key);
  byKey.set(key, sorted);
  return sorted;
}

function orderRows(assets: WorldAssets, rows: Uint32Array, key: SortKey): Uint32Array {
  if (key === 'id') return rows;
  if (key === 'none') return rows.slice().sort();
  const slotOf = key === 'created' ? assets.createdSlot : assets.updatedSlot;
  return sortBy(rows.length, (n) => slotOf(rows[n] as number)).map((n) => rows[n] as number);
}

const getTokenAccounts: RpcMethod = {
  name: 'getTokenAccounts',
  pool: 'das',
  params: { mint: 'string', owner: 'string', ...pagingParams, options: { showZeroBalance: 'boolean' } },
  required: [],
  answer(params, { world, slot, pageOnly }) {
    const { tokenAccounts } = world;
    const { options } = params as { options?: { showZeroBalance?: boolean } };
    const showZero = options?.showZeroBalance ?? false;
    const source = {
      keys: tokenAccounts.keys,
      rows: tokenAccountRows(world, params),
      keeps: (row: number) => showZero || tokenAccounts.state(row).amount > 0n,
      dropsLate: false,
      descending: true,
    };
    const page = cutPage(source, params as PagingParams, pageOnly);
    return pageText(
      'token_accounts',
      page,
      page.rows.map(tokenAccounts.write),
      slot,
      isLoose(page.rows, world.quirks),
    );
  },
};

function tokenAccountRows(world: World, params: { mint?: string; owner?: string }): Uint32Array {
  const { tokenAccounts, owners } = world;
  const { mint, owner } = params;
  if (owner === undefined && mint === undefined) throw badParams('one of `owner` and `mint` is needed');
  const mintNumber = mint === undefined ? -1 : tokenAccounts.findMint(mint);
  if (owner === undefined) return tokenAccounts.ofMint(mintNumber);
  const owned = tokenAccounts.ofOwner(owners.find(owner));
  return mint === undefined ? owned : owned.filter((row) => tokenAccounts.state(row).mint === mintNumber);
}

/** The lists of assets and token accounts (spec, "Endpoints"). */
export const listMethods: readonly RpcMethod[] = [getAssetsByGroup, getAssetsByCreator, getTokenAccounts];
