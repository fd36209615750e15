// Writes the figures of docs/performance.md from a benchmark run, and keeps that run beside it, so that anybody can
// see every sample behind a median.
//   npx tsx bench/write-performance.ts [bench/results/<date>.json]   (default: the newest)
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from './results.ts';
import { renderTables } from './tables.ts';

const folder = fileURLToPath(new URL('results/', import.meta.url));
const page = fileURLToPath(new URL('../docs/performance.md', import.meta.url));

/** Results are named by their dates; `quoted.json` is the one that the page tells of. */
function findNewest(): string {
  const file = readdirSync(folder)
    .filter((name) => /^\d.*\.json$/.test(name))
    .sort()
    .at(-1);
  if (file === undefined) throw new Error('there are no results: make bench');
  return `${folder}${file}`;
}

const text = readFileSync(process.argv[2] ?? findNewest(), 'utf8');
const [before, rest] = readFileSync(page, 'utf8').split('<!-- generated: figures -->\n') as [string, string];
const after = rest.slice(rest.indexOf('<!-- end -->'));
const tables = renderTables(JSON.parse(text) as BenchResult);
writeFileSync(page, `${before}<!-- generated: figures -->\n${tables}\n${after}`);
writeFileSync(`${folder}quoted.json`, text);
