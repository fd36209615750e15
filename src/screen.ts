import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';

/** What a screen draws on: stderr, on a terminal. */
export interface ScreenStream {
  write(text: string): unknown;
  columns?: number;
  rows?: number;
}

/** Lines at the bottom of a terminal that are drawn again and again, with everything else above them. */
export interface Screen {
  /** Puts these lines in the place of those drawn before; each must be narrower than the terminal. */
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

/** A terminal that does not say how large it is has 80 columns and 24 rows. */
export function sizeOf({ columns = 0, rows = 0 }: Pick<ScreenStream, 'columns' | 'rows'>): ScreenSize {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

export function createScreen(stream: ScreenStream): Screen {
  let drawn: readonly string[] = [];
  let drawnColumns = 0;
  /** A window that became narrower has wrapped what stood there: each line may take several rows now. */
  const erase = () => {
    const width = sizeOf(stream).columns;
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / width)), 0);
    return rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`;
  };
  const show = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
  return {
    draw(lines) {
      const { columns } = sizeOf(stream);
      // Lines that stand there already are left in peace.
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

let atWork: Screen | null = null;

/** The one screen of this process, while a run draws on it. */
export function useScreen(screen: Screen | null): void {
  atWork = screen;
}

/** Writes to stderr, above what is drawn there. */
export function writeStderr(text: string): void {
  if (atWork === null) process.stderr.write(text);
  else atWork.writeAbove(text);
}

/** Whether lines may be drawn again: a terminal that can move its cursor. */
export function canRedraw(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb';
}

/** The beginning of a line that fits, with `…` where it was longer. Pure. */
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
