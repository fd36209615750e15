/** Control characters become visible: names in the data may hold escape sequences, which a terminal would obey. */
export function oneLine(text: string): string {
  if (!/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text)) return text;
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\u200b\ufeff]/gu, (character) => {
    const code = character.codePointAt(0)!;
    if (code === 0x0a) return '↵';
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : '·';
  });
}

/** The same for a text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(oneLine).join('\n');
}
