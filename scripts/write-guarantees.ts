// Prints the figures of the last `make test`, `make test-daily` or `make test-release`. --keep writes them into docs/guarantees.md; --add adds them as
// a part of the run that is there (a few of the test files, for example, with LEDGERLAKE_FIGURES=figures-release.ndjson).
//   npx tsx scripts/write-guarantees.ts [--keep | --add]
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Level, levels } from '../test/bars.ts';
import type { Need } from '../test/support/needs.ts';
import { addPart, type FiguresRun, renderFigures, renderKept } from './guarantee-figures.ts';

const inRepository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const page = inRepository('docs/guarantees.md');
const kept = inRepository('test/figures.json');

/** The newest of the files that the targets of the Makefile write. */
function readRun(): FiguresRun {
  const [newest] = levels
    .map((kind) => ({ kind, file: inRepository(`figures-${kind}.ndjson`) }))
    .filter(({ file }) => existsSync(file))
    .sort((a, b) => statSync(b.file).mtimeMs - statSync(a.file).mtimeMs);
  if (newest === undefined)
    throw new Error('no figures yet: make test, make test-daily or make test-release');
  const { birthtimeMs, mtimeMs } = statSync(newest.file);
  const text = readFileSync(newest.file, 'utf8');
  const entries = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  const lacks: Need[] = entries.flatMap((one) => one.lacks ?? []);
  return {
    kind: newest.kind,
    date: new Date(mtimeMs).toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${cpus()[0]?.model}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.versions.node}`,
    minutes: Math.round((mtimeMs - birthtimeMs) / 60_000),
    figures: entries.filter((one) => one.bar !== undefined),
    lacks: [...new Set(lacks)],
  };
}

const run = readRun();
console.log(renderFigures(run));
const adds = process.argv.includes('--add');
if (adds || process.argv.includes('--keep')) {
  const runs: Partial<Record<Level, FiguresRun>> = existsSync(kept)
    ? JSON.parse(readFileSync(kept, 'utf8'))
    : {};
  const former = runs[run.kind];
  runs[run.kind] = adds && former !== undefined ? addPart(former, run) : run;
  const text = readFileSync(page, 'utf8');
  const begin = '<!-- generated: figures -->\n';
  const from = text.indexOf(begin) + begin.length;
  writeFileSync(
    page,
    `${text.slice(0, from)}${renderKept(runs)}\n${text.slice(text.indexOf('<!-- end -->', from))}`,
  );
  writeFileSync(kept, `${JSON.stringify(runs, null, 1)}\n`);
}
