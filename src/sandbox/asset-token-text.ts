import type { Random } from './random.ts';
import type { AssetState, WorldAssets } from './world-assets.ts';

const programs = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
] as const;

/**
 * The `token_info` member of a fungible asset with its leading comma, '' for others. About one supply in ten is
 * above 2^53 and some are texts, as in captured wallets. The price moves with every tick, and no slot with it.
 */
export function tokenInfoText(
  assets: WorldAssets,
  state: AssetState,
  { symbol, authority }: { symbol: string | null; authority: string },
): string {
  if (state.kind !== 'fungible') return '';
  const random = assets.traits.random(state.index, 'token');
  const decimals = random.pick(decimalChoices);
  const specimen = assets.traits.specimen(state.index)?.supply;
  const supply = specimen ?? supplyText(random, state.issues);
  const extended = random.quirk(5);
  const extensions = extended
    ? `,"mint_extensions":{"transfer_fee_config":{"maximum_fee":${random.u64()},"transfer_fee_basis_points":25}}`
    : '';
  return (
    `,"token_info":{"symbol":"${symbol}",${supply === '' ? '' : `"supply":${supply},`}"decimals":${decimals},` +
    `"token_program":"${programs[extended ? 1 : 0]}"${priceText(assets, state.index)},` +
    `"mint_authority":"${authority}","freeze_authority":"${random.oneIn(4) ? '' : authority}"}${extensions}`
  );
}

const decimalChoices = [0, 5, 6, 6, 8, 9, 9];

/** How many decimals a fungible asset has: the first random value of its token. */
export function decimalsOf(assets: WorldAssets, index: number): number {
  return assets.traits.random(index, 'token').pick(decimalChoices);
}

/** `token_info` of an asset that is the only token of its mint; '' for assets that are not tokens. */
export function singleTokenText(state: AssetState, authority: string): string {
  if (state.kind !== 'plain' && state.kind !== 'programmable') return '';
  return (
    `,"token_info":{"supply":${state.burnt ? 0 : 1},"decimals":0,"token_program":"${programs[0]}",` +
    `"mint_authority":"${authority}","freeze_authority":"${authority}"}`
  );
}

function supplyText(random: Random, issues: number): string {
  const large = random.quirks ? random.below(10) : 9;
  // Well below 2^64, so that a thousand later issues still fit 64 bits.
  const initial = large === 0 ? random.u64() >> 1n : random.u64() >> BigInt(16 + random.below(30));
  const supply = initial + BigInt(issues) * 1_000_000_007n;
  return random.quirk(12) ? `"${supply}"` : `${supply}`;
}

function priceText(assets: WorldAssets, index: number): string {
  const price = priceOf(assets, index);
  return price === null ? '' : `,"price_info":{"price_per_token":${price},"currency":"USDC"}`;
}

/** Today's price of a fungible asset in USDC; null for the half that is not listed. */
export function priceOf(assets: WorldAssets, index: number): number | null {
  const listed = assets.traits.random(index, 'price');
  if (listed.oneIn(2)) return null;
  const base = 10 ** (listed.below(9) - 6) * (1 + listed.below(1000) / 100);
  const today = assets.traits.random(index, 'price', assets.priceVersion + 1);
  return base * (0.9 + today.below(2000) / 10_000);
}
