/**
 * How fast pages are split and searched for the API key, against `JSON.parse(body.toString())` on the same bytes in
 * the same run:
 *
 *     npx tsx bench/split.ts
 *
 * Medians of 7, each the mean of enough pages for about 0.2 s.
 */
import { createKeyEcho } from '../src/api/key-echo.ts';
import { splitPage } from '../src/landing/split.ts';

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789';
let seed = 1;

function address(length = 44): string {
  let text = '';
  for (let k = 0; k < length; k++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    text += letters[Math.floor(seed / 65536) % letters.length];
  }
  return text;
}

/** About 2 KB, as the asset lists answer. */
function asset(n: number): string {
  const uri = `https://metadata.example.net/collections/${address()}/${n}`;
  const attributes = ['Background', 'Fur', 'Eyes', 'Mouth', 'Hat', 'Clothes'];
  return JSON.stringify({
    interface: 'ProgrammableNFT',
    id: address(),
    content: {
      $schema: 'https://schema.metaplex.com/nft1.0.json',
      json_uri: `${uri}.json`,
      files: [{ uri: `${uri}.png`, cdn_uri: `https://cdn.example.net/image/${uri}.png`, mime: 'image/png' }],
      metadata: {
        attributes: attributes.map((trait_type) => ({ trait_type, value: `Value ${address(6)}` })),
        description: `Asset #${n} of a "large" collection — ten thousand pieces, each drawn by hand and none the same.`,
        name: `Ape #${n}`,
        symbol: 'APE',
        token_standard: 'ProgrammableNonFungible',
      },
      links: { image: `${uri}.png`, external_url: 'https://example.net' },
    },
    authorities: [{ address: address(), scopes: ['full'] }],
    compression: {
      eligible: false,
      compressed: true,
      data_hash: address(),
      creator_hash: address(),
      asset_hash: address(),
      tree: address(),
      seq: n,
      leaf_id: n,
    },
    grouping: [{ group_key: 'collection', group_value: address() }],
    royalty: { royalty_model: 'creators', target: null, percent: 0.05, basis_points: 500, locked: false },
    creators: [
      { address: address(), share: 0, verified: true },
      { address: address(), share: 100, verified: false },
    ],
    ownership: {
      frozen: false,
      delegated: false,
      delegate: null,
      ownership_model: 'single',
      owner: address(),
    },
    supply: { print_max_supply: 0, print_current_supply: 0, edition_nonce: 254 },
    mutable: true,
    burnt: false,
  });
}

/** About 245 bytes. */
function tokenAccount(n: number): string {
  return JSON.stringify({
    address: address(),
    mint: address(),
    owner: address(),
    amount: 1_000_000_000_000_000 + n,
    delegated_amount: 0,
    frozen: false,
    burnt: null,
  });
}

function page(items: string, make: (n: number) => string): Buffer {
  const records = Array.from({ length: 1000 }, (_, n) => make(n)).join(',');
  return Buffer.from(
    `{"jsonrpc":"2.0","result":{"last_indexed_slot":365750752,"total":1000,"limit":1000,"cursor":"x","${items}":[${records}]},"id":"1"}`,
  );
}

/** Milliseconds one call takes: the median of 7 means. */
function timeMs(call: () => unknown): number {
  for (let begin = performance.now(); performance.now() - begin < 200; ) call();
  const means: number[] = [];
  for (let round = 0; round < 7; round++) {
    const begin = performance.now();
    let calls = 0;
    for (; performance.now() - begin < 200; calls++) call();
    means.push((performance.now() - begin) / calls);
  }
  return means.sort((a, b) => a - b)[3]!;
}

const pages = [
  { kind: 'assets', key: 'items', body: page('items', asset) },
  { kind: 'token accounts', key: 'token_accounts', body: page('token_accounts', tokenAccount) },
];

const keyEcho = createKeyEcho('3f1c9d7e-8a42-4b6f-9c0d-5e7a1b2c3d4f');
for (const { kind, key, body } of pages) {
  const ways = {
    'key search': timeMs(() => keyEcho.isIn(body)),
    splitPage: timeMs(() => splitPage(body, { path: [key], form: 'array' })),
    'JSON.parse': timeMs(() => JSON.parse(body.toString())),
  };
  for (const [way, ms] of Object.entries(ways)) {
    const mbPerS = body.length / 1000 / ms;
    const recordsPerS = 1_000_000 / ms;
    console.log(
      `${kind.padEnd(15)} ${String(Math.round(body.length / 1000)).padStart(5)} B/record  ${way.padEnd(10)} ` +
        `${mbPerS.toFixed(0).padStart(5)} MB/s ${(recordsPerS / 1000).toFixed(0).padStart(6)} k records/s`,
    );
  }
}
