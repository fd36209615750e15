import stringWidth from 'string-width';
import { escapeXml, renderSvg } from './svg-theme.ts';

/** What a terminal showed at some moment. */
export interface Screen {
  /** Title of its window. */
  title: string;
  lines: readonly string[];
}

/** A run on a terminal, as test/fixtures/terminal has it. */
export interface Transcript {
  columns: number;
  screens: readonly Screen[];
}

const [columnWidth, rowHeight] = [8, 19];
const [padding, titleHeight, gap] = [14, 30, 16];

const style = `
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }`;

/** The windows of one terminal, one below the other. Pure. */
export function renderTerminals({ columns, screens }: Transcript): string {
  const width = columns * columnWidth + 2 * padding;
  const body: string[] = [];
  let top = 0;
  for (const screen of screens) {
    const height = titleHeight + screen.lines.length * rowHeight + 2 * padding;
    body.push(...renderWindow(screen, { top, width, height }));
    top += height + gap;
  }
  const title = `A terminal of ${columns} columns: ${screens.map((screen) => screen.title).join('; ')}`;
  return renderSvg({ width, height: top - gap, title, style, body });
}

function renderWindow(
  { title, lines }: Screen,
  { top, width, height }: { top: number; width: number; height: number },
): string[] {
  return [
    `<rect class="ground" x="0.5" y="${top + 0.5}" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<path class="bar" d="M1 ${top + titleHeight} v-21 a8 8 0 0 1 8 -8 h${width - 18} a8 8 0 0 1 8 8 v21 z"/>`,
    ...[16, 34, 52].map((x) => `<circle class="left" cx="${x}" cy="${top + 15}" r="5"/>`),
    `<text class="muted" x="${width / 2}" y="${top + 19}" text-anchor="middle">${escapeXml(title)}</text>`,
    ...lines.flatMap((line, row) => renderRow(line, top + titleHeight + padding + row * rowHeight)),
  ];
}

/** One row: bars as shapes, and text in pieces, each at its column in any font. */
function renderRow(line: string, top: number): string[] {
  return [...line.matchAll(/█+|░+|[^█░ ]+(?: [^█░ ]+)*/g)].map(({ 0: piece, index }) => {
    const x = padding + stringWidth(line.slice(0, index)) * columnWidth;
    const width = stringWidth(piece) * columnWidth;
    const shape = piece.startsWith('█') ? 'done' : piece.startsWith('░') ? 'left' : null;
    if (shape !== null)
      return `<rect class="${shape}" x="${x}" y="${top + 3}" width="${width}" height="${rowHeight - 6}"/>`;
    return `<text class="text" x="${x}" y="${top + 14}" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escapeXml(piece)}</text>`;
  });
}
