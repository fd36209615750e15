import { expect, test } from 'vitest';
import type { Job } from '../../../src/jobs/job.ts';
import { listWaves } from '../../../src/jobs/job-set.ts';
import { decideExitCode } from '../../../src/run/run-outcome.ts';

const job = (name: string, ...after: string[]) => ({ name, after }) as unknown as Job;
const waves = (...jobs: Job[]) => listWaves(jobs).map((wave) => wave.map(({ name }) => name));

test.each<[string, Job[], string[][]]>([
  ['none', [], []],
  ['independent jobs go together', [job('a'), job('b')], [['a', 'b']]],
  ['a chain', [job('a'), job('b', 'a'), job('c', 'b')], [['a'], ['b'], ['c']]],
  ['the longest way counts', [job('a'), job('b', 'a'), job('c', 'a', 'b')], [['a'], ['b'], ['c']]],
  ['a diamond', [job('a'), job('b', 'a'), job('c', 'a'), job('d', 'b', 'c')], [['a'], ['b', 'c'], ['d']]],
  ['a job whose predecessor is not asked for waits for nothing', [job('b', 'a')], [['b']]],
])('waves: %s', (_, jobs, expected) => expect(waves(...jobs)).toEqual(expected));

test.each([
  [0, { refused: false, stopped: null, failed: false }],
  [3, { refused: false, stopped: null, failed: true }],
  [75, { refused: false, stopped: 75, failed: true }],
  [69, { refused: false, stopped: 69, failed: true }],
  [4, { refused: true, stopped: 69, failed: true }],
  [4, { refused: true, stopped: null, failed: false }],
] as const)('exit code %i', (code, outcome) => expect(decideExitCode(outcome)).toBe(code));
