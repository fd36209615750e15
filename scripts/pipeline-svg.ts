import { escapeXml, renderSvg } from './svg-theme.ts';

/** A box and its place in the grid: a stage does something, a store keeps its result. */
interface Box {
  kind: 'stage' | 'store';
  name: string;
  /** Two lines below it. */
  text: readonly [string, string];
  column: number;
  row: number;
}

const boxes: readonly Box[] = [
  { kind: 'store', name: 'jobs/*.yaml', text: ['what to crawl,', 'for which targets'], column: 0, row: 1 },
  { kind: 'stage', name: 'plan', text: ['what a night', 'would cost'], column: 1, row: 1 },
  { kind: 'store', name: 'the API', text: ['', ''], column: 2, row: 0 },
  { kind: 'stage', name: 'crawl', text: ['every page once,', 'within the limits'], column: 2, row: 1 },
  { kind: 'store', name: 'data/landing', text: ['pages as received,', 'byte for byte'], column: 3, row: 1 },
  { kind: 'stage', name: 'load', text: ['typed rows,', 'exact amounts'], column: 4, row: 1 },
  { kind: 'stage', name: 'publish', text: ['audited, then merged', 'with checkpoints'], column: 5, row: 1 },
  {
    kind: 'store',
    name: 'warehouse.duckdb',
    text: ['tables and history:', 'a snapshot for SQL'],
    column: 6,
    row: 1,
  },
  { kind: 'store', name: 'data/lake', text: ['Parquet', 'with a manifest'], column: 6, row: 2 },
];

const [boxWidth, boxHeight, gapX] = [132, 40, 24];
const rowTops = [14, 104, 214];

/** Arrows between boxes: from (column, row) to (column, row). */
const arrows: readonly (readonly [readonly [number, number], readonly [number, number]])[] = [
  ...[0, 1, 2, 3, 4, 5].map(
    (column) =>
      [
        [column, 1],
        [column + 1, 1],
      ] as const,
  ),
  [
    [2, 0],
    [2, 1],
  ],
  [
    [6, 1],
    [6, 2],
  ],
];

const style = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; text-anchor: middle; }
  .name { font-weight: 600; }
  .store + .name { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12px; }`;

/** How a night goes from job files to tables and Parquet. Pure. */
export function renderPipeline(): string {
  const width = 7 * boxWidth + 6 * gapX + 32;
  const height = 312;
  const title = 'plan, crawl, load, publish: from job files and the API to DuckDB and Parquet';
  const ground = `<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`;
  const body = [ground, ...arrows.map(([from, to]) => renderArrow(from, to)), ...boxes.flatMap(renderBox)];
  return renderSvg({ width, height, title, style, body });
}

function leftOf(column: number): number {
  return 16 + column * (boxWidth + gapX);
}

function renderBox({ kind, name, text, column, row }: Box): string[] {
  const [x, y] = [leftOf(column), rowTops[row]!];
  const middle = x + boxWidth / 2;
  const label = (line: string, top: number, className: string) =>
    line === '' ? [] : [`<text class="${className}" x="${middle}" y="${top}">${escapeXml(line)}</text>`];
  return [
    `<rect class="${kind}" x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="${kind === 'stage' ? 20 : 4}"/>`,
    ...label(name, y + 25, `name ${kind === 'stage' ? 'on-stage' : 'text'}`),
    ...label(text[0], y + boxHeight + 18, 'muted'),
    ...label(text[1], y + boxHeight + 34, 'muted'),
  ];
}

function renderArrow(from: readonly [number, number], to: readonly [number, number]): string {
  const isAcross = from[1] === to[1];
  // Down from the text below a box, or from its edge where it has none.
  const below = from[1] === 0 ? boxHeight : boxHeight + 42;
  const [x1, y1] = isAcross
    ? [leftOf(from[0]) + boxWidth + 2, rowTops[from[1]]! + boxHeight / 2]
    : [leftOf(from[0]) + boxWidth / 2, rowTops[from[1]]! + below];
  const [x2, y2] = isAcross ? [leftOf(to[0]) - 2, y1] : [x1, rowTops[to[1]]! - 2];
  const head = isAcross ? `M${x2} ${y2} l-7 -4 v8 z` : `M${x2} ${y2} l-4 -7 h8 z`;
  return `<path class="arrow" d="M${x1} ${y1} L${x2} ${y2}"/><path class="head" d="${head}"/>`;
}
