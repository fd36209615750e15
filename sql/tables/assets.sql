-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: assets
-- grain: one row an asset (id)
-- holds: Digital assets: NFTs, compressed NFTs and fungible tokens, as last seen.
-- shapes: asset
-- key: id
-- publish: merge
-- record bytes: 2200
-- history: yes
-- texts: yes
-- followed: yes
-- hash authorities: list_sort(list_transform(authorities, lambda a: {'address': a.address, 'scopes': list_sort(a.scopes)}))
-- living: burnt is distinct from true
-- forms: yes
-- usable: is_address(r.id)
-- unusable: 'no usable id'
-- group content: asked or members
-- group token_info: asked or members
-- group supply: members or null
-- group inscription: asked or value
-- group spl20: value
-- members: content.files, content.metadata, content.links, authorities, compression, grouping, royalty, creators, ownership
id varchar key <- id -- Asset id, base58; normally the mint address.
interface varchar text steady required <- interface -- Kind of asset: V1_NFT, ProgrammableNFT, FungibleToken, …; new kinds appear, so an open string.
name varchar steady <- content.metadata.name -- content: Name in the metadata; any text, also none.
symbol varchar <- content.metadata.symbol -- content: Symbol in the metadata.
description varchar <- content.metadata.description -- content: Description in the metadata.
token_standard varchar <- content.metadata.token_standard -- content: Token standard in the metadata, for example NonFungible.
json_uri varchar nonempty steady <- content.json_uri -- content: Where the off-chain metadata stands.
schema_uri varchar nonempty <- content.$schema -- content: Schema that the content says it follows ($schema).
image varchar nonempty <- content.links.image -- content: Image link.
external_url varchar nonempty <- content.links.external_url -- content: Link to a page about the asset.
owner varchar text nonempty steady <- ownership.owner -- Owner address; NULL when the source gives none.
ownership_model varchar steady <- ownership.ownership_model -- single or token.
frozen boolean steady <- ownership.frozen -- Whether the holding is frozen.
delegated boolean steady <- ownership.delegated -- Whether somebody else may move it.
delegate varchar text nonempty <- ownership.delegate -- Address that may move it.
compressed boolean steady <- compression.compressed -- Whether it is a leaf of a Merkle tree instead of an account of its own.
eligible boolean <- compression.eligible -- Whether it could be compressed.
tree varchar text nonempty <- compression.tree -- Merkle tree of a compressed asset; NULL otherwise.
leaf_id bigint <- compression.leaf_id if compressed -- Leaf index in the tree; NULL when not compressed.
seq bigint <- compression.seq if compressed -- Sequence number of the last change to the leaf; NULL when not compressed.
data_hash varchar nonempty <- compression.data_hash -- Hash of the metadata of a compressed asset.
creator_hash varchar nonempty <- compression.creator_hash -- Hash of the creators of a compressed asset.
asset_hash varchar nonempty <- compression.asset_hash -- Hash of the leaf.
collection varchar nonempty steady = collection_text raw collection_read -- Group value of the first grouping whose key is collection.
royalty_model varchar steady <- royalty.royalty_model -- How royalties are shared, for example creators.
royalty_target varchar nonempty <- royalty.target -- Address royalties go to, where the model has one.
royalty_percent double <- royalty.percent -- Royalty as a fraction (0.055 is 5.5 %), with float noise; royalty_basis_points is exact.
royalty_basis_points integer <- royalty.basis_points -- Royalty in hundredths of a percent.
primary_sale_happened boolean <- royalty.primary_sale_happened -- Whether it was sold for the first time.
locked boolean <- royalty.locked -- Whether the royalty is locked.
print_max_supply ubigint <- supply.print_max_supply -- supply: Most prints of a master edition.
print_current_supply ubigint <- supply.print_current_supply -- supply: Prints made so far.
edition_nonce bigint <- supply.edition_nonce -- supply: Edition nonce.
token_symbol varchar <- token_info.symbol -- token_info: Symbol of a fungible token.
token_supply ubigint steady <- token_info.supply -- token_info: Supply in the smallest unit, exact to 2^64 - 1; divide by 10 ^ token_decimals to show.
token_decimals integer steady <- token_info.decimals -- token_info: Decimal places of the token.
token_program varchar nonempty steady <- token_info.token_program -- token_info: Program that owns the mint.
price_per_token double volatile <- token_info.price_info.price_per_token -- token_info: Cached price, up to 600 seconds old, only for the top 10,000 tokens by 24-hour volume; changes in place without history.
price_currency varchar volatile <- token_info.price_info.currency -- token_info: Currency of price_per_token.
mint_authority varchar nonempty <- token_info.mint_authority -- token_info: Address that may mint more.
freeze_authority varchar nonempty <- token_info.freeze_authority -- token_info: Address that may freeze accounts.
mutable boolean steady <- mutable -- Whether the metadata may change.
burnt boolean steady final <- burnt -- Whether it was burnt; burnt assets leave the lists but stay here.
creators struct(address varchar nonempty, share integer, verified boolean)[] steady <- creators -- Creators in the order given: address, share in percent, whether it signed.
grouping struct(group_key varchar, group_value varchar nonempty)[] steady unordered <- grouping -- Groups it belongs to; NULL when the answer had none to say.
authorities struct(address varchar nonempty, scopes varchar[])[] steady <- authorities -- Addresses with authority over it and their scopes.
attributes struct(trait_type varchar, value varchar)[] map <- content.metadata.attributes -- content: Traits; a value that is no string is its JSON text. Maps are read as pairs.
files struct(uri varchar nonempty, cdn_uri varchar nonempty, mime varchar)[] unordered <- content.files -- content: Files of the content.
inscription json <- inscription -- inscription: Inscription details, when they were asked for.
spl20 json <- spl20 -- spl20: SPL-20 details, as given.
extra json
base_extra -- The part of extra outside content, token_info and supply, as text.
base_hash -- Hash of the columns that no group owns.
content_slot <- content.last_indexed_slot -- Slot of the answer the content columns come from; lists leave content out, batches bring it.
content_seen_at -- When that answer arrived; NULL when no answer has carried content yet.
content_hash -- Hash of the content columns, without prices and extra.
token_info_slot -- Slot of the answer the token columns come from.
token_info_hash -- Hash of the token columns, without prices and extra.
inscription_slot -- Slot of the answer the inscription comes from.
spl20_slot -- Slot of the answer spl20 comes from.
slot <- last_indexed_slot
record_hash -- Hash of the row without prices and extra; moves only when the row changes.
supply_slot -- Slot of the answer the print columns come from; an answer without `supply` leaves them as they are.
supply_hash -- Hash of the print columns.
