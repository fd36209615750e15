import stringWidth from 'string-width';

/** A command stays on one line, so that it can be copied. */
const unit = /[(`]?ledgerlake [^)`]*[)`]?|\S+/g;

/**
 * Breaks lines between words where they are wider than the terminal. What goes on stands `indent` columns behind the
 * beginning of its line. Pure. @param width null: no terminal, nothing is broken
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
  const begin = line.slice(0, line.length - line.trimStart().length);
  const lines: string[] = [];
  let current = begin;
  for (const [word] of line.matchAll(unit)) {
    const isFirst = current.trim() === '';
    if (!isFirst && stringWidth(`${current} ${word}`) > width) {
      lines.push(current);
      current = begin + ' '.repeat(indent) + word;
    } else current += isFirst ? word : ` ${word}`;
  }
  return [...lines, current].join('\n');
}
