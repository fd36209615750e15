import type { ListPage } from './list-paging.ts';

/**
 * The `result` of a list operation as JSON text: `total` is the number of rows on this page, as captured
 * from real servers, and says nothing about the list.
 */
export function pageText(
  name: string,
  page: ListPage,
  records: string[],
  slot: number,
  loose: boolean,
): string {
  const members = [
    `"last_indexed_slot":${slot}`,
    `"total":${records.length}`,
    `"limit":${page.limit}`,
    ...(page.page === undefined ? [] : [`"page":${page.page}`]),
    ...(page.before === undefined ? [] : [`"before":${JSON.stringify(page.before)}`]),
    ...(page.after === undefined ? [] : [`"after":${JSON.stringify(page.after)}`]),
    ...(page.cursor === undefined ? [] : [`"cursor":${JSON.stringify(page.cursor)}`]),
  ];
  return `{${members.join(',')},"${name}":${arrayText(records, loose)}}`;
}

/** Records as a JSON array; `loose` puts raw newlines between tokens, which JSON allows anywhere. */
export function arrayText(records: string[], loose: boolean): string {
  if (!loose) return `[${records.join(',')}]`;
  return `[\n  ${records.map((record) => record.replace(/^\{"/, '{\n    "')).join(',\n  ')}\n]`;
}

/** Answers whose first asset (or token account) has such a number come with raw newlines between tokens. */
export function isLoose(rows: number[], quirks: boolean): boolean {
  return quirks && rows[0] !== undefined && rows[0] % 8 === 0;
}
