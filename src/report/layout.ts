import { type Html, html, raw } from './html.ts';

/** A whole page, whose policy forbids the browser to load or run anything. */
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
  /** Right-aligned, as numbers are. */
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
  // As many columns as leave no row short.
  const columns = [5, 6, 4, 3].find((count) => tiles.length % count === 0) ?? 5;
  return html`<div class="tiles" style="--columns:${columns}">${each}</div>`;
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

/** The page's style sheet, for light and dark systems, from a phone to a wide screen. */
export const style = raw(`
:root{color-scheme:light dark;--paper:#fff;--card:#f6f7f9;--ink:#1b1f24;--muted:#5b6470;--line:#dde1e6;
--c1:#2f6fde;--c2:#d9822b;--c3:#c23b4a;--c4:#1d8a63;--good:#1d7a4f;--bad:#b3261e;--warn:#8a5a00}
@media (prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1d2127;--ink:#e8eaed;--muted:#a3acb8;--line:#353b44;
--c1:#6ea3ff;--c2:#f0a657;--c3:#f07c86;--c4:#55c79a;--good:#62cf9b;--bad:#ff8a80;--warn:#f0c060}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1220px;padding:20px 16px 48px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 4px}h2{font-size:1.15rem;margin:36px 0 10px}h3{font-size:1rem;margin:20px 0 6px}
p{margin:0 0 10px}.muted,figcaption,th{color:var(--muted)}code,.id{font-family:ui-monospace,monospace;font-size:.86em;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(var(--columns),1fr);gap:10px;margin:16px 0}
@media (max-width:640px){.tiles{grid-template-columns:1fr 1fr}.tile:last-child:nth-child(odd){grid-column:1/-1}}
.tile{background:var(--card);border-radius:8px;padding:10px 12px}.tile b{display:block;font-size:1.25rem;line-height:1.3}
.tile span{color:var(--muted);font-size:.87rem}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:12px}
figure{margin:0;background:var(--card);border-radius:8px;padding:10px 12px;min-width:0}figcaption{margin-bottom:6px}
figure svg{display:block;width:100%;max-width:600px;height:auto;margin:auto}.narrow{display:none}
.charts figure:last-child:nth-child(odd){grid-column:1/-1}
@media (max-width:520px){.wide{display:none}.narrow{display:block}}
.scroll{overflow-x:auto;margin:0 0 12px}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:500;white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.bar{background:var(--line);border-radius:3px;height:8px;min-width:70px;margin-top:7px}.bar i{display:block;height:8px;border-radius:3px;background:var(--c1)}
ul{margin:0 0 12px;padding-left:20px}li{margin:2px 0}
@media (max-width:640px){table.fold thead{display:none}table.fold tr{display:block;border-bottom:1px solid var(--line);padding:6px 0}
table.fold td{display:flex;justify-content:space-between;gap:16px;border:0;padding:1px 0;text-align:right;white-space:normal}
table.fold td>span{overflow-wrap:anywhere;min-width:0}
table.fold td::before{content:attr(data-label);color:var(--muted);text-align:left;flex:none}}
@media print{body{max-width:none}figure,.tile{break-inside:avoid}}
`);
