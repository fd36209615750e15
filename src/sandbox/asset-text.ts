import { collectionName, contentText, tokenSymbol } from './asset-content-text.ts';
import { singleTokenText, tokenInfoText } from './asset-token-text.ts';
import { mintIndex } from './asset-traits.ts';
import { createKeyTable } from './key-table.ts';
import { rememberTexts } from './memory.ts';
import type { Random } from './random.ts';
import { assetTreeTable, leafHashNumber, leafHashTable, leafIdOf, treeOf } from './world-asset-proofs.ts';
import type { AssetState, WorldAssets } from './world-assets.ts';

/** The `options` of getAsset (spec), which the lists and the batch take too. */
export const assetOptions = {
  showUnverifiedCollections: 'boolean',
  showCollectionMetadata: 'boolean',
  showFungible: 'boolean',
  showInscription: 'boolean',
} as const;

/** How an answer shows its records; the options are those of the spec's getAsset. */
export interface AssetView {
  /** `full`: the content of every asset. `list`: `{}` for a third of them. */
  content: 'full' | 'list';
  /** The slot of the answer; when given, the record and its content state their slots. */
  slot?: number;
  showUnverifiedCollections?: boolean;
  showCollectionMetadata?: boolean;
  /** Shows the token of an NFT, too: a supply of one, without decimals. */
  showFungible?: boolean;
  showInscription?: boolean;
}

/** Writes the record of an asset as it is now, as one line of JSON text. Numbers are exact: never a double. */
export interface AssetWriter {
  write(index: number, view: AssetView): string;
}

export function createAssetWriter(seed: number, assets: WorldAssets, owner: KeyName): AssetWriter {
  const names: KeyNames = {
    owner,
    tree: rememberTexts(createKeyTable(seed, assetTreeTable, 0).text),
    hash: createKeyTable(seed, leafHashTable, 0).text,
    delegate: rememberTexts(createKeyTable(seed, 'delegate', 0).text),
    collection: rememberTexts(assets.collectionKeys.text),
    creator: rememberTexts(assets.creatorKeys.text),
    authority: rememberTexts(createKeyTable(seed, 'authority', 0).text),
  };
  return {
    write(index, view) {
      const state = assets.state(index);
      const hidden = view.content === 'list' && assets.traits.hidesContent(index);
      const content = hidden ? '' : contentText(assets, state);
      const ownSlot = view.slot === undefined || hidden ? '' : `,"last_indexed_slot":${state.updatedSlot}`;
      const slot = view.slot === undefined ? '' : `"last_indexed_slot":${view.slot},`;
      return (
        `{${slot}"interface":"${interfaceOf(state)}","id":"${assets.keys.text(index)}",` +
        `"content":{${content}${ownSlot}},${bodyText(assets, state, names, view)}}`
      );
    },
  };
}

type KeyName = (index: number) => string;
type KeyNames = Record<
  'owner' | 'tree' | 'hash' | 'delegate' | 'collection' | 'creator' | 'authority',
  KeyName
>;

const plainInterfaces = [
  'V1_NFT',
  'V1_NFT',
  'V1_NFT',
  'LEGACY_NFT',
  'V2_NFT',
  'V1_PRINT',
  'Custom',
  'Identity',
];

function interfaceOf(state: AssetState): string {
  if (state.kind === 'compressed') return 'V1_NFT';
  if (state.kind === 'programmable') return 'ProgrammableNFT';
  if (state.kind === 'core') return 'MplCoreAsset';
  if (state.kind === 'fungible') return state.index % 3 === 0 ? 'FungibleAsset' : 'FungibleToken';
  return plainInterfaces[state.index % plainInterfaces.length] as string;
}

function bodyText(assets: WorldAssets, state: AssetState, names: KeyNames, view: AssetView) {
  const random = assets.traits.random(state.index, 'body');
  const authority = names.authority(state.collection);
  const points = random.pick([0, 250, 420, 500, 550, 710, 1000]);
  // The reference server multiplies in floating point: 710 becomes 0.07100000000000001.
  const percent = points === 0 ? '0.0' : `${points * 0.0001}`;
  const creators = state.creators
    .map(
      ({ creator, share, verified }) =>
        `{"address":"${names.creator(creator)}","share":${share},"verified":${verified}}`,
    )
    .join(',');
  return (
    `"authorities":[{"address":"${authority}","scopes":["full"]}],` +
    `"compression":{${compressionText(state, names, random)}},` +
    `"grouping":[${groupingText(state, names, view)}],` +
    `"royalty":{"royalty_model":"creators","target":null,"percent":${percent},"basis_points":${points},` +
    `"primary_sale_happened":${!random.oneIn(3)},"locked":false},"creators":[${creators}],` +
    `"ownership":{${ownershipText(state, names, random)}}${supplyText(state, random)},` +
    `"mutable":${!random.oneIn(4)},"burnt":${state.burnt}` +
    tokenInfoText(assets, state, { symbol: tokenSymbol(state), authority }) +
    (view.showFungible ? singleTokenText(state, authority) : '') +
    (assets.traits.specimen(state.index)?.extra ?? '') +
    extrasText(state, authority, names, view)
  );
}

function compressionText(state: AssetState, names: KeyNames, random: Random): string {
  if (state.kind !== 'compressed') {
    return `"eligible":${random.oneIn(9)},"compressed":false,"data_hash":"","creator_hash":"","asset_hash":"","tree":"","seq":0,"leaf_id":0`;
  }
  const leaf = leafHashNumber(state.index, state.rewrites);
  const second = random.quirks && state.index % 16 === 1;
  const extra = second ? `"collection_hash":"${names.hash(leaf + 3)}","flags":0,` : '';
  return (
    `"eligible":false,"compressed":true,"data_hash":"${names.hash(leaf)}","creator_hash":"${names.hash(leaf + 1)}",` +
    `${extra}"asset_hash":"${names.hash(leaf + 2)}","tree":"${names.tree(treeOf(state.index))}",` +
    `"seq":${state.index * 3 + 1 + state.rewrites},"leaf_id":${leafIdOf(state.index)}`
  );
}

function groupingText(state: AssetState, names: KeyNames, view: AssetView): string {
  const metadata = view.showCollectionMetadata
    ? `,"collection_metadata":{"name":"${collectionName(state.collection)}","symbol":"LLK"}`
    : '';
  const group = `{"group_key":"collection","group_value":"${names.collection(state.collection)}"${metadata}}`;
  if (!view.showUnverifiedCollections) return group;
  // One in eight claims a second collection that never confirmed it, and is not in that collection's list.
  const claimed = `{"group_key":"collection","group_value":"${names.authority(state.index % 7)}","verified":false}`;
  return state.index % 8 === 3 ? `${group},${claimed}` : group;
}

function ownershipText(state: AssetState, names: KeyNames, random: Random): string {
  const delegated = random.oneIn(6);
  const none = random.quirk(4) ? '""' : 'null';
  const delegate = delegated ? `"${names.delegate(random.below(500))}"` : none;
  const owner = state.owner === null ? '' : names.owner(state.owner);
  const bound = random.quirk(12) ? `"non_transferable":${random.oneIn(2)},` : '';
  return (
    `"frozen":${random.oneIn(7)},${bound}"delegated":${delegated},"delegate":${delegate},` +
    `"ownership_model":"${state.kind === 'fungible' ? 'token' : 'single'}","owner":"${owner}"`
  );
}

function supplyText(state: AssetState, random: Random): string {
  if (state.kind === 'fungible' || state.kind === 'core') return '';
  const nonce = random.oneIn(9) ? 'null' : 250 + random.below(6);
  const printed = state.kind === 'plain' && random.oneIn(6);
  const [max, current] = printed ? [100, random.below(100)] : [0, 0];
  return `,"supply":{"print_max_supply":${max},"print_current_supply":${current},"edition_nonce":${nonce}}`;
}

function extrasText(state: AssetState, authority: string, names: KeyNames, view: AssetView) {
  const inscribed = view.showInscription && state.index % 50 === 16;
  return (
    coreText(state, authority) +
    spl20Text(state) +
    (inscribed ? inscriptionText(state, authority, names) : '')
  );
}

function coreText(state: AssetState, authority: string): string {
  if (state.kind !== 'core') return '';
  return (
    ',"plugins":{"royalties":{"data":{"rule_set":"None","basis_points":500,"creators":[]},"index":0,"offset":155,' +
    `"authority":{"type":"UpdateAuthority","address":null}},"freeze_delegate":{"data":{"frozen":${state.index % 5 === 0}},` +
    `"index":1,"offset":231,"authority":{"type":"Address","address":"${authority}"}}},` +
    `"mpl_core_info":{"num_minted":${state.index},"current_size":${state.index},"plugins_json_version":1}`
  );
}

function spl20Text(state: AssetState): string {
  if (state.kind !== 'plain' || state.index % 50 !== 18) return '';
  return `,"spl20":{"p":"spl-20","op":"deploy","tick":"t${state.index}","max":"21000000","lim":"1000"}`;
}

function inscriptionText(state: AssetState, authority: string, names: KeyNames): string {
  return (
    `,"inscription":{"order":${state.index},"size":${200 + (state.index % 900)},"contentType":"image/png",` +
    `"encoding":"base64","validationHash":"${(mintIndex(state.index) * 0x9e3779b1).toString(16)}",` +
    `"inscriptionDataAccount":"${names.hash(state.index * 4 + 2)}","authority":"${authority}"}`
  );
}
