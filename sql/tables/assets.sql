-- table: assets
-- grain: one row an asset (id)
-- key: id
-- publish: merge
-- record bytes: 2200
-- final: burnt
-- history: yes
-- texts: yes
-- followed: yes
-- group content: name, symbol, description, token_standard, json_uri, schema_uri, image, external_url, attributes, files, content_extra
-- group token_info: token_symbol, token_supply, token_decimals, token_program, price_per_token, price_currency, mint_authority, freeze_authority, token_info_extra
-- group supply: print_max_supply, print_current_supply, edition_nonce, supply_extra
-- group inscription: inscription
-- group spl20: spl20
-- join extra: base_extra, content_extra, token_info_extra, supply_extra
-- volatile: price_per_token, price_currency
-- unordered: grouping, files
-- hash authorities: list_sort(list_transform(authorities, lambda a: {'address': a.address, 'scopes': list_sort(a.scopes)}))
-- steady: interface, name, json_uri, owner, ownership_model, frozen, delegated, burnt, compressed, collection, royalty_model, mutable, creators, grouping, authorities, token_supply, token_decimals, token_program
-- required: interface
-- living: burnt is distinct from true
create table if not exists assets (
  id varchar not null,
  interface varchar,
  name varchar,
  symbol varchar,
  description varchar,
  token_standard varchar,
  json_uri varchar,
  schema_uri varchar,
  image varchar,
  external_url varchar,
  owner varchar,
  ownership_model varchar,
  frozen boolean,
  delegated boolean,
  delegate varchar,
  compressed boolean,
  eligible boolean,
  tree varchar,
  leaf_id bigint,
  seq bigint,
  data_hash varchar,
  creator_hash varchar,
  asset_hash varchar,
  collection varchar,
  royalty_model varchar,
  royalty_target varchar,
  royalty_percent double,
  royalty_basis_points integer,
  primary_sale_happened boolean,
  locked boolean,
  print_max_supply ubigint,
  print_current_supply ubigint,
  edition_nonce bigint,
  token_symbol varchar,
  token_supply ubigint,
  token_decimals integer,
  token_program varchar,
  price_per_token double,
  price_currency varchar,
  mint_authority varchar,
  freeze_authority varchar,
  mutable boolean,
  burnt boolean,
  creators struct(address varchar, share integer, verified boolean)[],
  grouping struct(group_key varchar, group_value varchar)[],
  authorities struct(address varchar, scopes varchar[])[],
  attributes struct(trait_type varchar, value varchar)[],
  files struct(uri varchar, cdn_uri varchar, mime varchar)[],
  inscription json,
  spl20 json,
  extra json,
  base_extra varchar,
  content_extra varchar,
  token_info_extra varchar,
  base_hash ubigint,
  content_slot bigint,
  content_seen_at timestamptz,
  content_hash ubigint,
  token_info_slot bigint,
  token_info_seen_at timestamptz,
  token_info_hash ubigint,
  inscription_slot bigint,
  inscription_seen_at timestamptz,
  inscription_hash ubigint,
  spl20_slot bigint,
  spl20_seen_at timestamptz,
  spl20_hash ubigint,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null,
  changed_at timestamptz,
  supply_extra varchar,
  supply_slot bigint,
  supply_seen_at timestamptz,
  supply_hash ubigint,
  followed boolean
);
comment on table assets is 'Digital assets: NFTs, compressed NFTs and fungible tokens, as last seen.';
comment on column assets.id is 'Asset id, base58; normally the mint address.';
comment on column assets.interface is 'Kind of asset: V1_NFT, ProgrammableNFT, FungibleToken, …; new kinds appear, so an open string.';
comment on column assets.name is 'Name in the metadata; any text, also none.';
comment on column assets.symbol is 'Symbol in the metadata.';
comment on column assets.description is 'Description in the metadata.';
comment on column assets.token_standard is 'Token standard in the metadata, for example NonFungible.';
comment on column assets.json_uri is 'Where the off-chain metadata stands.';
comment on column assets.schema_uri is 'Schema that the content says it follows ($schema).';
comment on column assets.image is 'Image link.';
comment on column assets.external_url is 'Link to a page about the asset.';
comment on column assets.owner is 'Owner address; NULL when the source gives none.';
comment on column assets.ownership_model is 'single or token.';
comment on column assets.frozen is 'Whether the holding is frozen.';
comment on column assets.delegated is 'Whether somebody else may move it.';
comment on column assets.delegate is 'Address that may move it.';
comment on column assets.compressed is 'Whether it is a leaf of a Merkle tree instead of an account of its own.';
comment on column assets.eligible is 'Whether it could be compressed.';
comment on column assets.tree is 'Merkle tree of a compressed asset; NULL otherwise.';
comment on column assets.leaf_id is 'Leaf index in the tree; NULL when not compressed.';
comment on column assets.seq is 'Sequence number of the last change to the leaf; NULL when not compressed.';
comment on column assets.data_hash is 'Hash of the metadata of a compressed asset.';
comment on column assets.creator_hash is 'Hash of the creators of a compressed asset.';
comment on column assets.asset_hash is 'Hash of the leaf.';
comment on column assets.collection is 'Group value of the first grouping whose key is collection.';
comment on column assets.royalty_model is 'How royalties are shared, for example creators.';
comment on column assets.royalty_target is 'Address royalties go to, where the model has one.';
comment on column assets.royalty_percent is 'Royalty as a fraction (0.055 is 5.5 %), with float noise; royalty_basis_points is exact.';
comment on column assets.royalty_basis_points is 'Royalty in hundredths of a percent.';
comment on column assets.primary_sale_happened is 'Whether it was sold for the first time.';
comment on column assets.locked is 'Whether the royalty is locked.';
comment on column assets.print_max_supply is 'Most prints of a master edition.';
comment on column assets.print_current_supply is 'Prints made so far.';
comment on column assets.edition_nonce is 'Edition nonce.';
comment on column assets.token_symbol is 'Symbol of a fungible token.';
comment on column assets.token_supply is 'Supply in the smallest unit, exact to 2^64 - 1; divide by 10 ^ token_decimals to show.';
comment on column assets.token_decimals is 'Decimal places of the token.';
comment on column assets.token_program is 'Program that owns the mint.';
comment on column assets.price_per_token is 'Cached price, up to 600 seconds old, only for the top 10,000 tokens by 24-hour volume; changes in place without history.';
comment on column assets.price_currency is 'Currency of price_per_token.';
comment on column assets.mint_authority is 'Address that may mint more.';
comment on column assets.freeze_authority is 'Address that may freeze accounts.';
comment on column assets.mutable is 'Whether the metadata may change.';
comment on column assets.burnt is 'Whether it was burnt; burnt assets leave the lists but stay here.';
comment on column assets.creators is 'Creators in the order given: address, share in percent, whether it signed.';
comment on column assets.grouping is 'Groups it belongs to; NULL when the answer had none to say.';
comment on column assets.authorities is 'Addresses with authority over it and their scopes.';
comment on column assets.attributes is 'Traits; a value that is no string is its JSON text. Maps are read as pairs.';
comment on column assets.files is 'Files of the content.';
comment on column assets.inscription is 'Inscription details, when they were asked for.';
comment on column assets.spl20 is 'SPL-20 details, as given.';
comment on column assets.extra is 'Fields of the answer that have no column, under their paths; changes in place without history.';
comment on column assets.base_extra is 'The part of extra outside content, token_info and supply, as text.';
comment on column assets.content_extra is 'The part of extra below content, as text.';
comment on column assets.token_info_extra is 'The part of extra below token_info, as text.';
comment on column assets.supply_extra is 'The part of extra below supply, as text.';
comment on column assets.base_hash is 'Hash of the columns that no group owns.';
comment on column assets.content_slot is 'Slot of the answer the content columns come from; lists leave content out, batches bring it.';
comment on column assets.content_seen_at is 'When that answer arrived; NULL when no answer has carried content yet.';
comment on column assets.content_hash is 'Hash of the content columns, without prices and extra.';
comment on column assets.token_info_slot is 'Slot of the answer the token columns come from.';
comment on column assets.token_info_seen_at is 'When that answer arrived.';
comment on column assets.token_info_hash is 'Hash of the token columns, without prices and extra.';
comment on column assets.supply_slot is 'Slot of the answer the print columns come from; an answer without `supply` leaves them as they are.';
comment on column assets.supply_seen_at is 'When that answer arrived.';
comment on column assets.supply_hash is 'Hash of the print columns.';
comment on column assets.inscription_slot is 'Slot of the answer the inscription comes from.';
comment on column assets.inscription_seen_at is 'When that answer arrived.';
comment on column assets.inscription_hash is 'Hash of the inscription columns.';
comment on column assets.spl20_slot is 'Slot of the answer spl20 comes from.';
comment on column assets.spl20_seen_at is 'When that answer arrived.';
comment on column assets.spl20_hash is 'Hash of the spl20 columns.';
comment on column assets.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column assets.seen_at is 'When the answer that says so arrived.';
comment on column assets.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column assets.changed_slot is 'Slot of the answer that last changed the row.';
comment on column assets.run_id is 'Run that received the last change.';
comment on column assets.record_hash is 'Hash of the row without prices and extra; moves only when the row changes.';
comment on column assets.changed_at is 'When the answer that last changed the row arrived.';
comment on column assets.followed is 'Whether a target that a job has now should show the row; NULL until a run has read the targets of every job.';
