/** Text that is HTML; `html` escapes all other text. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | bigint | null | readonly Part[];

/** HTML of a template: every value is escaped, except results of `html` and `raw`. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, n) => text + render(parts[n - 1] ?? null) + string));
}

/** Our own markup, not escaped: never anything from the data. */
export function raw(text: string): Html {
  return new Html(text);
}

function render(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(render).join('');
  return escapeHtml(String(part));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for an element or a quoted attribute. Control, bidirectional and invisible characters become a dot, so
 * that no name looks like another.
 */
export function escapeHtml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\u200b\ufeff]/gu, '·')
    .replace(/[&<>"']/g, (character) => entities[character]!);
}
