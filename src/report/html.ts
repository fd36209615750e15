/** Text that is HTML already; all other text is escaped where `html` takes it in. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | bigint | null | readonly Part[];

/** HTML of a template: everything put into it is escaped, except what `html` or `raw` made. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, n) => text + render(parts[n - 1] ?? null) + string));
}

/** Markup of our own, put in as it is: never anything from the data. */
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
 * Text for an element or a quoted attribute. What steers a terminal, turns the direction of writing or cannot be seen
 * becomes a dot: a name shall not look like another one.
 */
export function escapeHtml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Cs}\u2028\u2029\u200b\ufeff]/gu, '·')
    .replace(/[&<>"']/g, (character) => entities[character]!);
}
