// Prints what a run of `make test-nightly` showed; with --keep writes it into docs/guarantees.md and keeps the run.
//   npx tsx scripts/write-guarantees.ts figures.ndjson [--keep]
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type FiguresRun, renderFigures } from './guarantee-figures.ts';

const page = fileURLToPath(new URL('../docs/guarantees.md', import.meta.url));
const kept = fileURLToPath(new URL('../test/figures.json', import.meta.url));

const [file = 'figures.ndjson'] = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const { birthtimeMs, mtimeMs } = statSync(file);
const lines = readFileSync(file, 'utf8').split('\n');
const run: FiguresRun = {
  date: new Date(mtimeMs).toISOString().slice(0, 10),
  machine: `${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`,
  minutes: Math.round((mtimeMs - birthtimeMs) / 60_000),
  figures: lines.filter((line) => line !== '').map((line) => JSON.parse(line)),
};
const table = renderFigures(run);
console.log(table);
if (process.argv.includes('--keep')) {
  const [before, rest] = readFileSync(page, 'utf8').split('<!-- generated: figures -->\n') as [
    string,
    string,
  ];
  const after = rest.slice(rest.indexOf('<!-- end -->'));
  writeFileSync(page, `${before}<!-- generated: figures -->\n${table}\n${after}`);
  writeFileSync(kept, `${JSON.stringify(run, null, 1)}\n`);
}
