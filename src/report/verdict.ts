import type { RunSummary } from '../run/read-runs.ts';
import { countOf } from '../words.ts';
import type { Tile } from './layout.ts';

const ends: Readonly<Record<number, [string, Tile['tone']]>> = {
  0: ['complete', 'good'],
  2: ['refused: usage or configuration', 'bad'],
  3: ['finished, some targets failed', 'warn'],
  4: ['finished, some of it was not published or believed', 'bad'],
  69: ['the API was unavailable', 'bad'],
  74: ['disk full, I/O, or a damaged file', 'bad'],
  75: ['stopped early as asked', 'warn'],
  77: ['the API refused the key', 'bad'],
};

/** How a run ended, in words. Pure. */
export function describeEnd({ state, exitCode }: Pick<RunSummary, 'state' | 'exitCode'>): {
  text: string;
  tone: Tile['tone'];
} {
  if (state === 'running') return { text: 'at work', tone: undefined };
  if (state === 'killed' || exitCode === null) return { text: 'killed', tone: 'bad' };
  const [text, tone] = ends[exitCode] ?? ['failed', 'bad'];
  return { text, tone };
}

/** Rows that a run brought, changed and closed, over all tables; null where it did not record them. Pure. */
export function sumRows({ did }: Pick<RunSummary, 'did'>): {
  inserted: number;
  changed: number;
  gone: number;
  confirmed: number;
} | null {
  if (did === undefined) return null;
  const sum = { inserted: 0, changed: 0, gone: 0, confirmed: 0 };
  for (const counts of Object.values(did.tables))
    for (const name of ['inserted', 'changed', 'gone', 'confirmed'] as const) sum[name] += counts[name];
  return sum;
}

/** The problems of a run, a line each. Pure. */
export function listProblems({ found, stoppedBy, did }: RunSummary): string[] {
  const failed = Object.entries(did?.jobs ?? {}).flatMap(([job, jobs]) =>
    jobs.failed > 0 ? `${job}: ${countOf(jobs.failed, 'target')} failed` : [],
  );
  return [
    ...(stoppedBy === null ? [] : [stoppedBy]),
    ...failed,
    ...(found?.refused ?? []).map((line) => `not published: ${line}`),
    ...(found?.audits ?? []).map((line) => `audit: ${line}`),
    ...(found?.waiting ?? []).map((line) => `not believed: ${line}`),
    ...(found?.leftOut ?? []).map(({ job, problem }) => `left out: ${job}: ${problem}`),
  ];
}
