import { readText } from '../../support/documents.ts';

/** An `sh` block of a document, and the `text` blocks before the next one: what it prints. */
export interface Step {
  commands: string;
  outputs: Shown[];
}

/** A block that is all of an output, a line `…` standing for any lines, and where it stands in the document. */
export interface Shown {
  text: string;
  from: number;
}

/** The steps of a document, in order. */
export function listSteps(path: string): Step[] {
  const steps: Step[] = [];
  for (const { 0: fenced, 1: language, 2: text = '', index } of readText(path).matchAll(fences)) {
    if (language === 'sh') steps.push({ commands: text, outputs: [] });
    if (language === 'text') steps.at(-1)?.outputs.push({ text, from: index + fenced.indexOf('\n') + 1 });
  }
  return steps;
}

const fences = /^ *```(\w+)\n([\s\S]*?)^ *```$/gm;

/** What differs from run to run, and what stands for it when outputs are compared: times, durations, sizes, paths, retries. */
const varying: [RegExp, string][] = [
  [/\b\d{8}T\d{9}Z(-[0-9a-f]{6})?/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00)?/g, '<time>'],
  [/\b\d+(\.\d+)? (ms|s|min|h)\b/g, '<duration>'],
  [/\b\d+(\.\d+)? [kKMG]B\b/g, '<size>'],
  [/(?<="bytes": )\d+/g, '<size>'],
  [/\b[0-9a-f]{64}\b/g, '<checksum>'],
  [/http:\/\/127\.0\.0\.1:\d+/g, '<url>'],
  [/\/tmp\/[\w./-]+/g, '<path>'],
  // Columns are as wide as what stands in them.
  [/ {2,}/g, '  '],
  [/─+/g, '─'],
  // Attempts, with the retries of a busy machine: `run …: 190 requests, 1,900 credits`, and a row of `runs`.
  [/(?<=^run <time>: )[\d,]+ requests, [\d,]+ credits/gm, '<attempts>'],
  [/(?<=<duration> {2}0 {2})[\d,]+ {2}[\d,]+$/gm, '<attempts>'],
];

/** Output as it is compared: what differs from run to run is named, and lines have no spaces at their end. */
export function normalise(text: string): string {
  const plain = varying.reduce((result, [pattern, name]) => result.replace(pattern, name), text);
  return plain.replace(/[ \t]+$/gm, '').trim();
}

/** Whether a block shows this output. Pure. */
export function showsOutput(shown: string, output: string): boolean {
  const parts = normalise(shown).split(/^ *…$/m);
  const pattern = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('(?:.*\n)*?.*');
  return new RegExp(`^${pattern}$`).test(normalise(output));
}
