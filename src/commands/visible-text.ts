import stringWidth from 'string-width';

/** Makes control characters visible: names in the data may hold escape sequences, which a terminal would obey. */
export function oneLine(text: string): string {
  if (!/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\u200b\ufeff]/gu, (character) => {
    const code = character.codePointAt(0)!;
    if (code === 0x0a) return '↵';
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : '·';
  });
}

/** As `oneLine`, for a text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(oneLine).join('\n');
}

/** A word, or a command, which stays on one line so that it can be copied. */
const wordOrCommand = /(\s*)([(`]?ledgerlake [^)`]*[)`]?|\S+)/g;

/**
 * Breaks lines between words where they are wider than the terminal. Continuations are indented by `indent` columns
 * more than their line. Pure. @param width null: no terminal, nothing is broken
 */
export function wrapText(text: string, width: number | null, indent = 2): string {
  if (width === null) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, width, indent))
    .join('\n');
}

function wrapLine(line: string, width: number, indent: number): string {
  if (stringWidth(line) <= width) return line;
  const margin = line.slice(0, line.length - line.trimStart().length);
  const lines: string[] = [];
  let current = '';
  for (const [, space, word] of line.matchAll(wordOrCommand)) {
    if (current !== '' && stringWidth(`${current}${space}${word}`) > width) {
      lines.push(current);
      current = margin + ' '.repeat(indent) + word;
    } else current += `${space}${word}`;
  }
  return [...lines, current].join('\n');
}
