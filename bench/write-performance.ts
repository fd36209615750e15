// Writes the figures of docs/performance.md, or of docs/what-a-night-costs.md, from a benchmark run, and keeps that run beside it, so that anybody can
// see every sample behind a median.
//   npx tsx bench/write-performance.ts [bench/results/<date>.json]   (default: the newest)
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './results.ts';
import { renderNights, renderTables } from './tables.ts';

const folder = fileURLToPath(new URL('results/', import.meta.url));
const docs = fileURLToPath(new URL('../docs/', import.meta.url));

/** The run that a page tells of is kept beside its command: of a run of the nights alone, the nights' page. */
const pages = {
  all: { page: 'performance.md', kept: 'quoted.json', render: renderTables },
  nights: { page: 'what-a-night-costs.md', kept: 'nights.json', render: renderNights },
};

/** Results are named by their dates. */
function findNewest(): string {
  const file = readdirSync(folder)
    .filter((name) => /^\d.*\.json$/.test(name))
    .sort()
    .at(-1);
  if (file === undefined) throw new Error('there are no results: make bench');
  return `${folder}${file}`;
}

const text = readFileSync(process.argv[2] ?? findNewest(), 'utf8');
const result = JSON.parse(text) as BenchResult;
const { page, kept, render } = Object.keys(result.cases).join() === 'nights' ? pages.nights : pages.all;
const [before, rest] = readFileSync(`${docs}${page}`, 'utf8').split('<!-- generated: figures -->\n') as [
  string,
  string,
];
const after = rest.slice(rest.indexOf('<!-- end -->'));
writeFileSync(`${docs}${page}`, `${before}<!-- generated: figures -->\n${render(result)}\n${after}`);
writeFileSync(`${folder}${kept}`, text);
