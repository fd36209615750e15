import type { Specimen } from './asset-specimens.ts';
import type { Random } from './random.ts';
import type { AssetState, WorldAssets } from './world-assets.ts';

const traitNames = ['Background', 'Body', 'Eyes', 'Mouth', 'Headwear', 'Weapon', 'Aura', 'Tier', 'Faction'];
const traitValues = [
  'Amber',
  'Cobalt',
  'Dusk',
  'Fern',
  'Ivory',
  'Jade',
  'Moss',
  'Onyx',
  'Rust',
  'Slate',
  'Zinc',
];
const collectionNames = ['Tidewater', 'Iron Gardens', 'Paper Moons', 'Low Orbit', 'Saltmarsh', 'Night Ferry'];
const standards = {
  compressed: 'NonFungible',
  plain: 'NonFungible',
  programmable: 'ProgrammableNonFungible',
  core: null,
  fungible: 'Fungible',
};
const sentences = [
  'Drawn by hand from notes kept during a winter at the coast.',
  'Holders of this piece vote on what the studio makes next.',
  'The palette follows the tide table of the day it was minted.',
  'Each layer was printed, cut, scanned and put together again.',
  'Part of the proceeds pays for the upkeep of a small museum.',
  'No two of the series share both their sky and their shore.',
  'It may be lent, staged or carried into the companion game.',
];
const decorations = ['🐚', '龍', 'Ødegård', 'Ζεύς', '👩‍🚀', 'Ünïcödé', 'नमस्ते', '🇮🇸', 'é', '\u200f'];
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

/** Name of a collection, by its number. */
export function collectionName(collection: number): string {
  const name = collectionNames[collection % collectionNames.length] as string;
  return collection < collectionNames.length ? name : `${name} ${collection}`;
}

/** Symbol of a fungible asset; null for others, whose symbol is in their metadata only. */
export function tokenSymbol(state: AssetState): string | null {
  return state.kind === 'fungible' ? `T${(state.index * 7919).toString(36).toUpperCase()}` : null;
}

/** The inside of an asset's `content`, as JSON text without its braces. */
export function contentText(assets: WorldAssets, state: AssetState): string {
  const random = assets.traits.random(state.index, 'content');
  const specimen = assets.traits.specimen(state.index);
  const image = `https://arweave.net/${randomLetters(random, 43)}`;
  const uri = specimen?.jsonUri ?? JSON.stringify(`https://arweave.net/${randomLetters(random, 43)}`);
  const files = filesText(random, image);
  const links =
    specimen?.links ??
    `{"image":${JSON.stringify(image)}${random.oneIn(3) ? '' : `,"external_url":"https://gallery.example/${state.index}"`}}`;
  const schema = '"$schema":"https://schema.metaplex.com/nft1.0.json"';
  // A few real records have no metadata at all. Specimens and renamed assets keep theirs, because tests look at it.
  const bare = random.quirk(40) && specimen === undefined && state.renames === 0;
  if (bare) return `${schema},"json_uri":${uri},"files":[],"links":{}`;
  const metadata = metadataText(random, state, specimen ?? {});
  return `${schema},"json_uri":${uri},"files":${files},"metadata":{${metadata}},"links":${links}`;
}

function metadataText(random: Random, state: AssetState, specimen: Specimen): string {
  const attributes = specimen.attributes ?? attributesText(random);
  const description = specimen.description ?? JSON.stringify(describe(random));
  const name = specimen.name ?? JSON.stringify(nameOf(random, state));
  const symbol = specimen.symbol ?? JSON.stringify(tokenSymbol(state) ?? 'LLK');
  const standard = standards[state.kind];
  const text = `"description":${description},"name":${name},"symbol":${symbol}`;
  return `${attributes === '' ? '' : `"attributes":${attributes},`}${text}${
    standard === null ? '' : `,"token_standard":"${standard}"`
  }`;
}

function nameOf(random: Random, state: AssetState): string {
  const plain = `${collectionName(state.collection)} #${state.index}`;
  const decorated = random.quirk(25) ? `${plain} ${random.pick(decorations)}` : plain;
  return state.renames === 0 ? decorated : `${decorated} (${state.renames + 1})`;
}

function describe(random: Random): string {
  const first = random.below(sentences.length);
  const count = 4 + random.below(3);
  return Array.from({ length: count }, (_, n) => sentences[(first + n) % sentences.length]).join(' ');
}

/** Attributes: mostly a list; as in real records also [], an object, null, or '' for no such key. */
function attributesText(random: Random): string {
  const drawn = random.below(100);
  const dice = random.quirks ? drawn : 50;
  const first = random.below(traitNames.length);
  const names = Array.from(
    { length: 5 + random.below(4) },
    (_, n) => traitNames[(first + n) % traitNames.length] as string,
  );
  const value = () =>
    dice >= 80 && random.oneIn(3) ? oddValue(random) : JSON.stringify(random.pick(traitValues));
  if (dice < 4) return '[]';
  if (dice < 8) return `{${names.map((name) => `"${name}":${value()}`).join(',')}}`;
  if (dice < 11) return 'null';
  if (dice < 13) return '';
  return `[${names.map((name) => `{"value":${value()},"trait_type":"${name}"}`).join(',')}]`;
}

function oddValue(random: Random): string {
  return random.pick(['true', 'false', 'null', '0', `${random.below(100)}`, `${random.below(1000) / 8}`]);
}

function filesText(random: Random, image: string): string {
  const cdn = `https://cdn.ledger.example/img/${randomLetters(random, 24)}`;
  const files = [`{"uri":"${image}","cdn_uri":"${cdn}","mime":"image/png"}`];
  if (random.oneIn(3)) files.push(`{"uri":"${image}.mp4","cdn_uri":"${cdn}.mp4","mime":"video/mp4"}`);
  if (random.quirk(30)) files.push(`{"uri":"${image}?ext=glb"}`);
  if (random.quirk(60)) files.push('{"mime":"text/html"}');
  return random.quirk(20) ? '[]' : `[${files.join(',')}]`;
}

function randomLetters(random: Random, count: number): string {
  let text = '';
  let word = 0;
  for (let n = 0; n < count; n += 1) {
    if (n % 5 === 0) word = random.next();
    text += letters.charAt(word & 63);
    word >>>= 6;
  }
  return text;
}
