import { at, canonical, type Json, type JsonObject, parseExact } from './exact-json.ts';
import { hasLoneSurrogate, type Kind, readField, textOfField, type Value } from './expected-value.ts';

/** What a record must become: the contract's rules (DESIGN, "Tables"), read without the pipeline. */
export interface ExpectedRow {
  key: string;
  /** Null: the record is refused whole. */
  row: Record<string, Cell> | null;
  /** Columns that are NULL because what came did not fit; [null] for a refused record. */
  quarantined: (string | null)[];
}

/** JSON columns stand as canonical text, lists of structs as arrays of objects. */
export type Cell = Value | (Record<string, Value | Value[]> | null)[];

/** Column → where it stands in the record and what it takes. */
type Fields = Record<string, [path: string, kind: Kind]>;

const assetFields: Fields = {
  interface: ['interface', 'only text'],
  name: ['content.metadata.name', 'text'],
  symbol: ['content.metadata.symbol', 'text'],
  description: ['content.metadata.description', 'text'],
  token_standard: ['content.metadata.token_standard', 'text'],
  json_uri: ['content.json_uri', 'reference'],
  schema_uri: ['content.$schema', 'reference'],
  image: ['content.links.image', 'reference'],
  external_url: ['content.links.external_url', 'reference'],
  owner: ['ownership.owner', 'address'],
  ownership_model: ['ownership.ownership_model', 'text'],
  frozen: ['ownership.frozen', 'boolean'],
  delegated: ['ownership.delegated', 'boolean'],
  delegate: ['ownership.delegate', 'address'],
  compressed: ['compression.compressed', 'boolean'],
  eligible: ['compression.eligible', 'boolean'],
  tree: ['compression.tree', 'address'],
  leaf_id: ['compression.leaf_id', 'i64'],
  seq: ['compression.seq', 'i64'],
  data_hash: ['compression.data_hash', 'reference'],
  creator_hash: ['compression.creator_hash', 'reference'],
  asset_hash: ['compression.asset_hash', 'reference'],
  royalty_model: ['royalty.royalty_model', 'text'],
  royalty_target: ['royalty.target', 'reference'],
  royalty_percent: ['royalty.percent', 'double'],
  royalty_basis_points: ['royalty.basis_points', 'i32'],
  primary_sale_happened: ['royalty.primary_sale_happened', 'boolean'],
  locked: ['royalty.locked', 'boolean'],
  print_max_supply: ['supply.print_max_supply', 'u64'],
  print_current_supply: ['supply.print_current_supply', 'u64'],
  edition_nonce: ['supply.edition_nonce', 'i64'],
  token_symbol: ['token_info.symbol', 'text'],
  token_supply: ['token_info.supply', 'u64'],
  token_decimals: ['token_info.decimals', 'i32'],
  token_program: ['token_info.token_program', 'reference'],
  price_per_token: ['token_info.price_info.price_per_token', 'double'],
  price_currency: ['token_info.price_info.currency', 'text'],
  mint_authority: ['token_info.mint_authority', 'reference'],
  freeze_authority: ['token_info.freeze_authority', 'reference'],
  mutable: ['mutable', 'boolean'],
  burnt: ['burnt', 'boolean'],
};

/** Column → list in the record and its elements' fields. */
const assetLists: Record<string, [path: string, element: Record<string, Kind | 'texts'>]> = {
  creators: ['creators', { address: 'reference', share: 'i32', verified: 'boolean' }],
  grouping: ['grouping', { group_key: 'text', group_value: 'reference' }],
  authorities: ['authorities', { address: 'reference', scopes: 'texts' }],
  files: ['content.files', { uri: 'reference', cdn_uri: 'reference', mime: 'text' }],
  attributes: ['content.metadata.attributes', { trait_type: 'text', value: 'text' }],
};

/** Objects of the record besides itself, outermost first. */
const assetObjects = [
  'content',
  'content.metadata',
  'content.links',
  'compression',
  'royalty',
  'ownership',
  'supply',
  'token_info',
  'token_info.price_info',
];

const contentColumns = [
  'name',
  'symbol',
  'description',
  'token_standard',
  'json_uri',
  'schema_uri',
  'image',
  'external_url',
  'attributes',
  'files',
];

/** The row of an asset record. */
export function expectAsset(text: string): ExpectedRow {
  const record = parseExact(text);
  const key = readKey(at(record, 'id'));
  if (key === null || hasLoneSurrogate(text)) return refused(text);
  const { row, quarantined } = readFields(record, assetFields);
  for (const path of assetObjects) {
    const node = at(record, ...path.split('.'));
    if (node === undefined || node instanceof Map || (textOfField(node) ?? '') === '') continue;
    quarantined.push(path.split('.').at(-1) as string);
  }
  for (const [column, [path, element]] of Object.entries(assetLists)) {
    const node = at(record, ...path.split('.'));
    const list = column === 'attributes' && node instanceof Map ? pairs(node) : readList(node, element);
    row[column] = list.value;
    if (list.castError) quarantined.push(column);
  }
  if (row.compressed !== true) Object.assign(row, { leaf_id: null, seq: null });
  const grouping = at(record, 'grouping');
  const groups = Array.isArray(grouping) ? grouping : [];
  const group = groups.find((item) => textOfField(at(item, 'group_key')) === 'collection') ?? null;
  const collection = readField(at(group, 'group_value'), 'address');
  row.collection = collection.value;
  if (collection.castError) quarantined.push('collection');
  for (const column of ['inscription', 'spl20']) row[column] = jsonText(at(record, column));
  row.extra = unknownOf(record as JsonObject, '');
  return { key, row: { id: key, ...row }, quarantined };
}

/** A row as a list gives it that leaves out the content. */
export function withoutContent(row: Record<string, Cell>): Record<string, Cell> {
  return { ...row, ...Object.fromEntries(contentColumns.map((column) => [column, null])) };
}

/** The content columns of one row on the others of another. */
export function withContentOf(row: Record<string, Cell>, other: Record<string, Cell>): Record<string, Cell> {
  return { ...row, ...Object.fromEntries(contentColumns.map((column) => [column, other[column] as Cell])) };
}

const tokenAccountFields: Fields = {
  mint: ['mint', 'address'],
  owner: ['owner', 'address'],
  amount: ['amount', 'u64'],
  delegated_amount: ['delegated_amount', 'u64'],
  frozen: ['frozen', 'boolean'],
  delegate: ['delegate', 'reference'],
  close_authority: ['close_authority', 'reference'],
};

/** The row of a token account record. */
export function expectTokenAccount(text: string): ExpectedRow {
  const record = parseExact(text);
  const key = readKey(at(record, 'address'));
  if (key === null || hasLoneSurrogate(text)) return refused(text);
  const { row, quarantined } = readFields(record, tokenAccountFields);
  for (const column of ['burnt', 'extensions']) row[column] = jsonText(at(record, column));
  const known = [...Object.keys(tokenAccountFields), 'address', 'burnt', 'extensions', 'last_indexed_slot'];
  const unknown = [...(record as JsonObject)].filter(([name]) => !known.includes(name));
  row.extra = unknown.length === 0 ? null : canonical(new Map(unknown));
  return { key, row: { address: key, ...row }, quarantined };
}

function readKey(node: Json | undefined): string | null {
  return typeof node === 'string' && /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(node) ? node : null;
}

function refused(text: string): ExpectedRow {
  const named = /"(?:id|address)" *: *"([^"]+)"/.exec(text)?.[1] ?? '';
  return { key: named, row: null, quarantined: [null] };
}

function readFields(record: Json, fields: Fields) {
  const row: Record<string, Cell> = {};
  const quarantined: (string | null)[] = [];
  for (const [column, [path, kind]] of Object.entries(fields)) {
    const { value, castError } = readField(at(record, ...path.split('.')), kind);
    row[column] = value;
    if (castError) quarantined.push(column);
  }
  return { row, quarantined };
}

function readList(node: Json | undefined, element: Record<string, Kind | 'texts'>) {
  if (!Array.isArray(node)) return { value: null, castError: (textOfField(node) ?? '') !== '' };
  let castError = false;
  const value = node.map((item) => {
    // An attribute of no kind stays none; the others' elements are put together from their fields.
    if (item === null && 'trait_type' in element) return null;
    if (item !== null && !(item instanceof Map)) castError = true;
    const struct = Object.entries(element).map(([name, kind]) => {
      const field = at(item, name);
      if (kind === 'texts') {
        castError ||= !Array.isArray(field) && (textOfField(field) ?? '') !== '';
        return [name, Array.isArray(field) ? field.map(textOfField) : null];
      }
      const read = readField(field, kind);
      castError ||= read.castError;
      return [name, read.value];
    });
    return Object.fromEntries(struct) as Record<string, Value | Value[]>;
  });
  return { value, castError };
}

/** The members of a map, in the order of their names. */
function pairs(map: JsonObject) {
  const value = [...map]
    .map(([name, item]) => ({ trait_type: name, value: textOfField(item) }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.trait_type), Buffer.from(b.trait_type)));
  return { value, castError: false };
}

function jsonText(node: Json | undefined): string | null {
  return node === null || node === undefined ? null : canonical(node);
}

/** What of an asset record has no column, with its path; null for nothing. */
function unknownOf(record: JsonObject, below: string): string | null {
  const found = unknownMembers(record, below);
  return found.size === 0 ? null : canonical(found);
}

function unknownMembers(node: JsonObject, below: string): JsonObject {
  const found: JsonObject = new Map();
  for (const [name, value] of node) {
    const path = below === '' ? name : `${below}.${name}`;
    const list = Object.values(assetLists).find(([known]) => known === path);
    if (assetObjects.includes(path)) {
      const inner = value instanceof Map ? unknownMembers(value, path) : new Map();
      if (inner.size > 0) found.set(name, inner);
    } else if (list !== undefined) {
      if (Array.isArray(value) && value.some((item) => hasOther(item, Object.keys(list[1]))))
        found.set(name, value);
    } else if (!knownPaths.has(path)) found.set(name, value);
  }
  return found;
}

function hasOther(item: Json, names: string[]): boolean {
  return item instanceof Map && [...item.keys()].some((name) => !names.includes(name));
}

const knownPaths = new Set([
  ...Object.values(assetFields).map(([path]) => path),
  ...['id', 'last_indexed_slot', 'content.last_indexed_slot', 'inscription', 'spl20'],
]);
