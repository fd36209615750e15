import { type SortKey, sortKeys, sortRows } from './asset-order.ts';
import type { AssetView } from './asset-text.ts';
import { cutPage, maxLimit, type PagingParams, pagingParams } from './list-paging.ts';
import { arrayText, pageText } from './page-text.ts';
import { type AnswerContext, badParams, type RpcMethod } from './rpc-method.ts';
import type { World } from './world.ts';

const displayOptions = {
  showUnverifiedCollections: 'boolean',
  showCollectionMetadata: 'boolean',
  showFungible: 'boolean',
  showInscription: 'boolean',
} as const;

const assetListParams = {
  ...pagingParams,
  sortBy: { sortBy: sortKeys, sortDirection: ['asc', 'desc'] },
  options: displayOptions,
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
      // Burnt assets have no supply left, and lists show only what has one.
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
  return pageText('items', page, records, slot, isLoose(world, page.rows));
}

/** Pages whose first asset has such a number come with raw newlines between tokens. */
function isLoose(world: World, rows: number[]): boolean {
  return world.quirks && rows[0] !== undefined && rows[0] % 8 === 0;
}

const getAssetBatch: RpcMethod = {
  name: 'getAssetBatch',
  pool: 'das',
  params: { ids: 'strings', options: displayOptions },
  required: ['ids'],
  answer(params, { world, slot }) {
    const { ids, options } = params as { ids: string[]; options?: AssetListParams['options'] };
    if (ids.length > maxLimit)
      throw badParams(`\`ids\` holds ${ids.length}, at most ${maxLimit} are allowed`);
    const rows = [...new Set(ids)].map((id) => world.assets.keys.find(id));
    const view: AssetView = { content: 'full', slot, ...options };
    const records = rows.map((row) => (row === -1 ? 'null' : world.assetWriter.write(row, view)));
    return arrayText(records, isLoose(world, rows));
  },
};

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
      isLoose(world, page.rows),
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

/** The digital-asset methods (spec, "Endpoints"). */
export const dasMethods: readonly RpcMethod[] = [
  getAssetsByGroup,
  getAssetsByCreator,
  getAssetBatch,
  getTokenAccounts,
];
