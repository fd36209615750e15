import { appendFileSync } from 'node:fs';
import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** What this machine lacks for the test, which is skipped: .ci/count-tests.mjs counts it. */
    lacks?: string;
  }
}

/** What tests need of a machine beside Node, and how to get it; `.ci/run` installs those with a command. */
export const needs = {
  chromium: { what: 'Chromium', get: 'apt-get install chromium' },
  script: { what: '`script`', get: 'apt-get install bsdutils' },
  python: { what: 'Python', get: 'apt-get install python3' },
  pyarrow: {
    what: 'pyarrow',
    get: 'pip install pyarrow in a virtual environment; TEST_PYTHON=<its python3>',
  },
  mount: { what: 'the right to mount', get: null },
  cgroup: { what: 'the right to make a memory cgroup', get: null },
  engine: { what: 'a container engine', get: null },
  registry: { what: 'the npm registry', get: null },
} as const satisfies Record<string, { what: string; get: string | null }>;

export type Need = keyof typeof needs;

/** Needs that `.ci/run` tried to meet, in vain. */
const unmet = (process.env.LEDGERLAKE_UNMET ?? '').split(' ');

/**
 * Skips a test on a machine that lacks what it needs, and notes that. @throws in CI, where it can be installed: a promise
 * would be unshown
 */
export function skipWithout(context: TestContext, need: Need, isThere: boolean): void {
  if (isThere) return;
  const { what, get } = needs[need];
  if (process.env.CI && get !== null && !unmet.includes(need)) throw new Error(`no ${what}: ${get}`);
  context.task.meta.lacks = what;
  const file = process.env.LEDGERLAKE_FIGURES;
  if (file) appendFileSync(file, `${JSON.stringify({ lacks: need })}\n`);
  context.skip(`no ${what}`);
}
