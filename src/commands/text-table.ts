import stringWidth from 'string-width';
import { oneLine } from './visible-text.ts';

export interface TextColumn {
  name: string;
  /** Numbers stand right. */
  right?: boolean;
}

export interface TextTableOptions {
  /** Columns of the terminal; lines are cut to it. Left out: nothing is cut. */
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

/** Lines of a table whose widths are settled, so that more rows than were measured can follow. */
export interface TableLayout {
  heading: string[];
  line(row: readonly string[]): string;
}

/** Settles the widths by the heading and these rows. */
export function layOutTable(
  columns: readonly TextColumn[],
  sample: readonly (readonly string[])[],
  { width }: TextTableOptions = {},
): TableLayout {
  const clean = sample.map((row) => row.map(oneLine));
  const widths = columns.map(({ name }, n) =>
    clean.reduce((widest, row) => Math.max(widest, stringWidth(row[n] ?? '')), stringWidth(oneLine(name))),
  );
  if (width !== undefined) narrow(widths, width);
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

/** Takes from the widest columns until all fit, but leaves each 8. */
function narrow(widths: number[], available: number): void {
  const least = 8;
  const total = () => widths.reduce((sum, width) => sum + width + 2, -2);
  while (total() > available) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= least) return;
    const second = Math.max(least, ...widths.filter((_, n) => n !== widest));
    const excess = total() - available;
    widths[widest] = Math.max(
      least,
      Math.min(widths[widest]! - 1, Math.max(second, widths[widest]! - excess)),
    );
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

/** Columns are not narrowed below this where the others can go below them. */
const readable = 16;

/**
 * Numbers of the columns that fit beside each other, block by block; the first column begins each of them, to tell the rows by.
 * One block where the terminal is wide enough for all. Pure.
 */
export function cutBlocks(
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): number[][] {
  const widths = columns.map(({ name }, n) =>
    rows.reduce(
      (widest, row) => Math.max(widest, Math.min(readable, stringWidth(oneLine(row[n] ?? '')))),
      Math.min(readable, stringWidth(oneLine(name))),
    ),
  );
  const blocks: number[][] = [];
  let used = Number.POSITIVE_INFINITY;
  for (const n of columns.keys()) {
    const own = widths[n]! + 2;
    if (used + own - 2 > width) {
      blocks.push(n === 0 ? [] : [0]);
      used = n === 0 ? 0 : widths[0]! + 2;
    }
    blocks.at(-1)!.push(n);
    used += own;
  }
  return blocks;
}

/** What is listed one below the other: a line that names it, and a text about it. */
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
  return [...lines, line.trimEnd()].filter((one) => one.trim() !== '').map((one) => cutText(one, width));
}

/** Columns of the terminal that stdout is; null where it is a file or a pipe. */
export function terminalWidth(): number | null {
  return process.stdout.isTTY === true ? (process.stdout.columns ?? 80) : null;
}
