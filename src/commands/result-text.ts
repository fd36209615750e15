import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { QueryResult } from '../warehouse/query.ts';
import { formatCount } from '../words.ts';
import { cutBlocks, cutText, formatTable, layOutTable, type TextColumn } from './text-table.ts';
import { cellText, jsonText } from './value-text.ts';
import { oneLine } from './visible-text.ts';

export const textFormats = ['table', 'csv', 'json', 'ndjson'] as const;
export type TextFormat = (typeof textFormats)[number];

/**
 * A query's result as text, in pieces of about 2,048 rows: no more than a few are ever in memory. DuckDB's COPY would
 * be ten times faster, but its JSON rounds numbers inside a JSON column and writes NaN bare, its CSV has lists and
 * times in DuckDB's notation, and its `/dev/stdout` truncates a file that the shell appends to.
 * @param width columns of the terminal that tables are cut to; undefined: nothing is cut
 * @param vertical tables: one field a line
 */
export function resultText(
  result: QueryResult,
  format: TextFormat,
  width?: number,
  vertical = false,
): AsyncGenerator<string> {
  const { columns } = result;
  if (format === 'table')
    return vertical ? verticalText(result, columns, width) : tableText(result, columns, width);
  if (format === 'csv') return csvText(result, columns);
  return format === 'ndjson' ? ndjsonText(result, columns) : jsonArrayText(result, columns);
}

interface ResultColumn {
  name: string;
  type: DuckDBType;
}

type Rows = DuckDBValue[][];

async function* csvText(result: QueryResult, columns: ResultColumn[]): AsyncGenerator<string> {
  yield `${columns.map(({ name }) => csvCell(name)).join(',')}\n`;
  for await (const rows of result.rows()) {
    yield rows.map((row) => `${columns.map(({ type }, n) => csvValue(row[n]!, type)).join(',')}\n`).join('');
  }
}

/** NULL is an empty field, an empty text a pair of quotes. */
function csvValue(value: DuckDBValue, type: DuckDBType): string {
  return value === null ? '' : csvCell(cellText(value, type));
}

function csvCell(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes rows as objects; their keys are spelled once, not once a row. */
function jsonRows(columns: ResultColumn[]): (row: DuckDBValue[]) => string {
  const keys = columns.map(({ name }, n) => `${n === 0 ? '' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    let text = '{';
    for (let n = 0; n < keys.length; n += 1) text += keys[n] + jsonText(row[n]!, columns[n]!.type);
    return `${text}}`;
  };
}

async function* ndjsonText(result: QueryResult, columns: ResultColumn[]): AsyncGenerator<string> {
  const toJson = jsonRows(columns);
  for await (const rows of result.rows()) {
    yield rows.map((row) => `${toJson(row)}\n`).join('');
  }
}

async function* jsonArrayText(result: QueryResult, columns: ResultColumn[]): AsyncGenerator<string> {
  const toJson = jsonRows(columns);
  let separator = '[\n';
  for await (const rows of result.rows()) {
    if (rows.length === 0) continue;
    yield separator + rows.map(toJson).join(',\n');
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

const numeric = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL|DOUBLE|FLOAT|BIGNUM)/;

/** The first rows set the widths; later rows are cut to them, or stick out where nothing may be cut. */
async function* tableText(
  result: QueryResult,
  columns: ResultColumn[],
  width: number | undefined,
): AsyncGenerator<string> {
  const heads = columns.map(({ name, type }) => ({ name, right: numeric.test(String(type)) }));
  const options = width === undefined ? {} : { width };
  let layout: ReturnType<typeof layOutTable> | undefined;
  let count = 0;
  // Too wide for the terminal: blocks of columns, one below the other.
  let inBlocks = false;
  for await (const rows of result.rows()) {
    const cells = tableCells(rows, columns);
    count += rows.length;
    const blocks = layout === undefined && width !== undefined ? cutBlocks(heads, cells, width) : [];
    if (blocks.length > 1) inBlocks = true;
    if (inBlocks && width !== undefined) {
      yield cutBlocks(heads, cells, width)
        .map((block) => blockText(heads, cells, block, width))
        .join('\n');
      continue;
    }
    const heading = layout === undefined;
    layout ??= layOutTable(heads, cells, options);
    yield [...(heading ? layout.heading : []), ...cells.map(layout.line)].map((line) => `${line}\n`).join('');
  }
  if (layout === undefined && !inBlocks)
    yield layOutTable(heads, [], options)
      .heading.map((line) => `${line}\n`)
      .join('');
  if (width !== undefined) yield `(${formatCount(count)} ${count === 1 ? 'row' : 'rows'})\n`;
}

function tableCells(rows: Rows, columns: ResultColumn[]): string[][] {
  return rows.map((row) =>
    columns.map(({ type }, n) => (row[n] === null ? 'NULL' : cellText(row[n]!, type))),
  );
}

/** Rows with some of the columns, as a table. */
function blockText(
  heads: readonly TextColumn[],
  cells: readonly (readonly string[])[],
  block: readonly number[],
  width: number,
): string {
  return formatTable(
    block.map((n) => heads[n]!),
    cells.map((row) => block.map((n) => row[n]!)),
    { width },
  );
}

/** Row by row, each field on a line of its own. */
async function* verticalText(
  result: QueryResult,
  columns: ResultColumn[],
  width: number | undefined,
): AsyncGenerator<string> {
  const longest = Math.max(0, ...columns.map(({ name }) => name.length));
  let count = 0;
  for await (const rows of result.rows()) {
    const cells = tableCells(rows, columns);
    yield cells
      .map((row) => {
        count += 1;
        const lines = columns.map(({ name }, n) => `${oneLine(name).padEnd(longest)}  ${oneLine(row[n]!)}`);
        const cut = lines.map((line) => (width === undefined ? line : cutText(line, width)));
        return `${[`─ row ${count} ${'─'.repeat(Math.max(0, longest - 5))}`, ...cut].join('\n')}\n`;
      })
      .join('');
  }
  if (width !== undefined) yield `(${formatCount(count)} ${count === 1 ? 'row' : 'rows'})\n`;
}
