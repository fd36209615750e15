import { drawChart } from './charts.ts';
import { type Html, html } from './html.ts';
import {
  formatShare,
  formatTime,
  groupDigits,
  layOutId,
  layOutShare,
  layOutTable,
  layOutTiles,
} from './layout.ts';
import type { SnapshotData } from './read-report.ts';

/** What the tables hold: assets, collections, holders, balances, signatures. Pure. */
export function renderData(snapshot: SnapshotData): Html[] {
  return [renderAssets(snapshot), renderBalances(snapshot), renderSignatures(snapshot)].filter(
    (section) => section !== null,
  );
}

function renderAssets({ assets, collections, holders }: SnapshotData): Html | null {
  if (assets === null) return null;
  const tiles = layOutTiles([
    { value: groupDigits(assets.assets), label: 'assets' },
    { value: groupDigits(assets.owners), label: 'owners' },
    { value: formatShare(assets.compressed_share), label: `compressed: ${groupDigits(assets.compressed)}` },
    { value: groupDigits(assets.burnt), label: 'burnt' },
    { value: formatShare(assets.top_ten_share), label: 'with the ten largest owners' },
    { value: formatShare(assets.top_hundred_share), label: 'with the hundred largest' },
  ]);
  const rows = collections.map((row) => [
    layOutId(row.collection),
    groupDigits(row.assets),
    groupDigits(row.holders),
    formatShare(row.compressed_share),
    layOutShare(row.top_share),
    layOutShare(row.top_ten_share),
  ]);
  const columns = [
    { name: 'collection' },
    ...['assets', 'holders', 'compressed'].map((name) => ({ name, right: true })),
    ...[{ name: 'largest holder' }, { name: 'ten largest' }],
  ];
  const owners = holders.map((row) => [layOutId(row.owner), groupDigits(row.assets), layOutShare(row.share)]);
  return html`<section><h2>Assets</h2>${tiles}<h3>Collections</h3>${layOutTable(columns, rows)}<h3>Largest owners</h3>${layOutTable(
    [{ name: 'owner' }, { name: 'assets', right: true }, { name: 'share' }],
    owners,
  )}</section>`;
}

function renderBalances({ balances }: SnapshotData): Html | null {
  if (balances.length === 0) return null;
  const rows = balances.map((row) => [
    layOutId(row.mint),
    groupDigits(row.accounts),
    groupDigits(row.holders),
    groupDigits(row.amount ?? '–'),
    layOutShare(row.top_share),
  ]);
  const columns = [
    { name: 'mint' },
    ...['accounts', 'holders', 'sum, smallest unit'].map((name) => ({ name, right: true })),
    { name: 'largest holder' },
  ];
  return html`<section><h2>Token balances</h2>${layOutTable(columns, rows)}</section>`;
}

function renderSignatures({ signatures }: SnapshotData): Html | null {
  const [first] = signatures;
  const last = signatures.at(-1);
  if (first === undefined || last === undefined) return null;
  const days = last.begun_at.getTime() - first.begun_at.getTime() > 2 * 86_400_000;
  const label = (at: Date) => (days ? at.toISOString().slice(5, 10) : at.toISOString().slice(11, 16));
  const chart = drawChart({
    title: `Compression signatures, ${formatTime(first.begun_at)} to ${formatTime(last.begun_at)}`,
    summary: 'Signatures by the time of their slot',
    labels: signatures.map(({ begun_at }) => label(begun_at)),
    series: [{ name: 'signatures', values: signatures.map((row) => Number(row.signatures)) }],
  });
  return html`<section><h2>Signatures</h2><div class="charts">${chart}</div></section>`;
}
