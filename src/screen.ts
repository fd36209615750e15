import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

/** The stream that a screen draws on: stderr of a terminal. */
export interface ScreenStream {
  write(text: string): unknown;
  columns?: number;
  rows?: number;
}

/** Lines at the bottom of a terminal that are redrawn, with everything else above them. */
export interface Screen {
  /** Replaces the lines drawn before; each line must be narrower than the terminal. */
  draw(lines: readonly string[]): void;
  /** Writes text that stays, above the lines. */
  writeAbove(text: string): void;
  /** Leaves the lines as they are. */
  end(): void;
}

export interface ScreenSize {
  columns: number;
  rows: number;
}

/** The size of a terminal; 80 columns and 24 rows where it is unknown. */
export function sizeOf({ columns = 0, rows = 0 }: Pick<ScreenStream, 'columns' | 'rows'>): ScreenSize {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

export function createScreen(stream: ScreenStream): Screen {
  let drawn: readonly string[] = [];
  let drawnColumns = 0;
  /** Erases what was drawn. In a window that became narrower, each line may have been wrapped to several rows. */
  const erase = () => {
    const width = sizeOf(stream).columns;
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / width)), 0);
    return rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`;
  };
  const show = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  return {
    draw(lines) {
      const { columns } = sizeOf(stream);
      // Redrawing the same lines would flicker.
      if (columns === drawnColumns && lines.join('\n') === drawn.join('\n')) return;
      stream.write(erase() + show(lines));
      drawn = lines;
      drawnColumns = columns;
    },
    writeAbove(text) {
      stream.write(erase() + text + show(drawn));
    },
    end() {
      drawn = [];
    },
  };
}

let current: Screen | null = null;

/** Sets the one screen of this process; null: nothing draws. */
export function useScreen(screen: Screen | null): void {
  current = screen;
}

/** Writes to stderr, above the drawn lines. */
export function writeStderr(text: string): void {
  if (current === null) process.stderr.write(text);
  else current.writeAbove(text);
}

/** Whether lines can be redrawn: on a terminal that can move its cursor. */
export function canRedraw(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** Cuts a line to a width, with `…` where it was longer. Pure. */
export function cutLine(text: string, width: number): string {
  const plain = stripVTControlCharacters(text);
  if (stringWidth(plain) <= width) return plain;
  let kept = '';
  let used = 0;
  for (const character of plain) {
    used += stringWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
