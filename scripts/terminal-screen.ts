import stringWidth from 'string-width';

/** What a terminal shows: its lines from the first one on, also those that have scrolled out of the window. */
export interface TerminalScreen {
  /** Shows a program's output. @throws on an unknown control sequence */
  write(text: string): void;
  /** The current lines, without trailing spaces and empty lines at the end. */
  lines(): string[];
}

const introducer = '\u001b[';
const sequence = /^([\d;?]*)([A-Za-z])/;

/**
 * A terminal of a given width that understands ledgerlake's output: text, newline, carriage return, cursor up, erase to the
 * end of the screen. Long lines wrap. Pure but for its state.
 */
export function createTerminalScreen(columns: number): TerminalScreen {
  const rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  const down = () => {
    row += 1;
    while (rows.length <= row) rows.push([]);
  };
  const control = (parameter: string, final: string) => {
    if (final === 'A') row = Math.max(0, row - Number(parameter || 1));
    else if (final === 'J' && ['', '0'].includes(parameter)) {
      rows.length = row + 1;
      rows[row]!.length = Math.min(rows[row]!.length, column);
    } else throw new Error(`unknown sequence CSI ${parameter}${final}`);
  };
  const put = (character: string) => {
    const width = stringWidth(character);
    if (column + width > columns) {
      down();
      column = 0;
    }
    const line = rows[row]!;
    while (line.length < column) line.push(' ');
    line[column] = character;
    // A wide character takes two columns.
    for (let n = 1; n < width; n += 1) line[column + n] = '';
    column += width;
  };
  return {
    write(text) {
      for (let at = 0; at < text.length; ) {
        const begins = text.startsWith(introducer, at);
        const found = begins ? sequence.exec(text.slice(at + introducer.length, at + 20)) : null;
        const character = String.fromCodePoint(text.codePointAt(at)!);
        if (found !== null) control(found[1]!, found[2]!);
        else if (character === '\n') down();
        else if (character === '\r') column = 0;
        else if (character < ' ') throw new Error(`unknown control character ${JSON.stringify(character)}`);
        else put(character);
        at += found === null ? character.length : introducer.length + found[0].length;
      }
    },
    lines() {
      const lines = rows.map((line) => line.join('').trimEnd());
      while (lines.at(-1) === '') lines.pop();
      return lines;
    },
  };
}
