import stringWidth from 'string-width';
import { oneLine } from './visible-text.ts';

export interface TextColumn {
  name: string;
  /** Right-aligned, as numbers are. */
  right?: boolean;
  /** Never narrowed, because it is to be typed again: an id. */
  whole?: boolean;
}

export interface TextTableOptions {
  /** Columns of the terminal, which lines are cut to. Default: nothing is cut. */
  width?: number;
}

/** A heading, a rule and one line a row: for people, not for programs. */
export function formatTable(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  options: TextTableOptions = {},
): string {
  const layout = layOutTable(columns, rows, options);
  return [...layout.heading, ...rows.map(layout.line)].map((line) => `${line}\n`).join('');
}

/** Lines of a table with fixed widths, so that rows can follow that were not measured. */
export interface TableLayout {
  heading: string[];
  line(row: readonly string[]): string;
}

/** Sets the widths by the heading and these rows. */
export function layOutTable(
  columns: readonly TextColumn[],
  sample: readonly (readonly string[])[],
  { width }: TextTableOptions = {},
): TableLayout {
  const clean = sample.map((row) => row.map(oneLine));
  const widths = columns.map(({ name }, n) =>
    clean.reduce((widest, row) => Math.max(widest, stringWidth(row[n] ?? '')), stringWidth(oneLine(name))),
  );
  if (width !== undefined) narrow(widths, width, columns);
  const line = (row: readonly string[]) => {
    const cells = columns.map(({ right }, n) => {
      const text = oneLine(row[n] ?? '');
      return pad(width === undefined ? text : cutText(text, widths[n]!), widths[n]!, right === true);
    });
    const joined = cells.join('  ').trimEnd();
    return width === undefined ? joined : cutText(joined, width);
  };
  const rule = columns.map((_, n) => '─'.repeat(widths[n]!)).join('  ');
  return {
    heading: [line(columns.map(({ name }) => name)), width === undefined ? rule : cutText(rule, width)],
    line,
  };
}

/** Narrows the widest columns until all fit, none below 8. */
function narrow(widths: number[], available: number, columns: readonly TextColumn[]): void {
  const min = 8;
  const widthOf = (n: number) => (columns[n]?.whole === true ? 0 : widths[n]!);
  const total = () => widths.reduce((sum, width) => sum + width + 2, -2);
  while (total() > available) {
    const others = [...widths.keys()].map(widthOf);
    const widest = others.indexOf(Math.max(...others));
    if (widthOf(widest) <= min) return;
    const second = Math.max(min, ...others.filter((_, n) => n !== widest));
    const excess = total() - available;
    widths[widest] = Math.max(min, Math.min(widths[widest]! - 1, Math.max(second, widths[widest]! - excess)));
  }
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return right ? space + text : text + space;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The beginning of a text that fits, with `…` where it was longer. Pure. */
export function cutText(text: string, width: number): string {
  // Most text is short and plain; measuring is the slow part.
  if (text.length * 2 <= width || stringWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Columns are not narrowed below this width where a further block can hold the others. */
const readableWidth = 16;

/**
 * Indexes of the columns that fit beside each other, block by block. Each block begins with the first column, which
 * identifies the rows. One block where all columns fit. Pure.
 */
export function cutBlocks(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): number[][] {
  const widths = columns.map(({ name }, n) =>
    rows.reduce(
      (widest, row) => Math.max(widest, Math.min(readableWidth, stringWidth(oneLine(row[n] ?? '')))),
      Math.min(readableWidth, stringWidth(oneLine(name))),
    ),
  );
  const blocks: number[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const n of columns.keys()) {
    const columnWidth = widths[n]! + 2;
    if (used + columnWidth - 2 > width) {
      blocks.push(n === 0 ? [] : [0]);
      used = n === 0 ? 0 : widths[0]! + 2;
    }
    blocks.at(-1)!.push(n);
    used += columnWidth;
  }
  return blocks;
}

/** An entry of a list: a line that names it, and a text about it. */
export interface TextEntry {
  head: string;
  text: string;
}

/** Entries for a terminal: no line is wider than it, texts are wrapped at words and indented. Pure. */
export function formatEntries(entries: readonly TextEntry[], width: number): string {
  return entries
    .map(({ head, text }) => [...wrap(head, width, '  '), ...wrap(`  ${text}`, width, '  ')].join('\n'))
    .map((entry) => `${entry}\n`)
    .join('');
}

/** @param indent of the lines after the first */
function wrap(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of oneLine(text).split(/(?<=[ ,])/)) {
    if (line !== '' && stringWidth(line + word.trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = indent;
    }
    line += word;
  }
  return [...lines, line.trimEnd()].filter((text) => text.trim() !== '').map((text) => cutText(text, width));
}

/** Width of the terminal that stdout is; null where it is a file or a pipe. */
export function terminalWidth(): number | null {
  return process.stdout.isTTY === true ? (process.stdout.columns ?? 80) : null;
}
