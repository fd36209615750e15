import { type Html, html, raw } from './html.ts';
import { style } from './style.ts';

/** A whole page. It loads nothing, runs nothing, and asks for nothing: the policy says so to the browser. */
export function layOutPage(title: string, body: readonly Html[]): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
}

export interface Column {
  name: string;
  /** Numbers stand right. */
  right?: boolean;
}

/** A table that folds into one field a line on a phone; nothing where it has no rows. */
export function layOutTable(columns: readonly Column[], rows: readonly (readonly (Html | string)[])[]): Html {
  if (rows.length === 0) return raw('');
  const kind = (column: Column | undefined) => (column?.right ? 'n' : '');
  const heads = columns.map((column) => html`<th class="${kind(column)}">${column.name}</th>`);
  const lines = rows.map((row) => {
    const cells = row.map(
      (cell, n) =>
        html`<td class="${kind(columns[n])}" data-label="${columns[n]?.name ?? ''}">${wrap(cell)}</td>`,
    );
    return html`<tr>${cells}</tr>`;
  });
  return html`<div class="scroll"><table class="fold"><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div>`;
}

/** On a phone a cell lies beside its label: it has to be one box. */
function wrap(cell: Html | string): Html {
  return html`<span>${cell}</span>`;
}

export interface Tile {
  value: string;
  label: string;
  tone?: 'good' | 'bad' | 'warn' | undefined;
}

export function layOutTiles(tiles: readonly Tile[]): Html {
  const each = tiles.map(
    ({ value, label, tone }) =>
      html`<div class="tile"><b class="${tone ?? ''}">${value}</b><span>${label}</span></div>`,
  );
  return html`<div class="tiles">${each}</div>`;
}

/** A share as a bar and in percent. */
export function layOutShare(share: number): Html {
  const percent = Math.min(100, Math.max(0, share * 100));
  return html`<span>${formatShare(share)}<span class="bar" style="display:block"><i style="width:${percent.toFixed(1)}%"></i></span></span>`;
}

/** `0.4 %`, `12 %`. Pure. */
export function formatShare(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** An address or another name from the data. */
export function layOutId(text: string): Html {
  return html`<span class="id">${text}</span>`;
}

/** `2026-11-23 06:48 UTC`; of a text too. Pure. */
export function formatTime(time: Date | string | null): string {
  if (time === null) return '–';
  const text = typeof time === 'string' ? time : time.toISOString();
  return `${text.slice(0, 16).replace('T', ' ')} UTC`;
}

/** Digits of a whole number in groups of three, however long it is. Pure. */
export function groupDigits(text: string): string {
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
