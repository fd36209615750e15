import { expect, onTestFinished, test, vi } from 'vitest';
import { type AgedNight, type AgingOptions, type NightPlace, openAgedFolder } from '../../bench/aging.ts';
import { bar, showFigure } from '../bars.ts';
import { release } from '../levels.ts';
import { runProgram } from '../support/program.ts';

vi.setConfig({ testTimeout: 7_200_000 });

/** A night in this process: nothing is measured, which other tests beside it would disturb. */
async function runNight(args: readonly string[], { cwd, env, aheadMs }: NightPlace) {
  const { code, stderr } = await runProgram(args, { cwd, env, aheadMs });
  expect(code, stderr).toBe(0);
  return { cpuSeconds: 0, peakMb: 0, seconds: 0 };
}

/** Plays nights, and returns the folder as it was after each. */
async function age(nights: number, options: AgingOptions, run?: typeof runNight): Promise<AgedNight[]> {
  const folder = await openAgedFolder(options, run);
  onTestFinished(() => folder.close());
  const aged: AgedNight[] = [];
  while (aged.length < nights) aged.push(await folder.night());
  return aged;
}

/** The middle of some nights: one may have swept or compacted. */
function median(nights: readonly AgedNight[], of: keyof AgedNight): number {
  return nights.map((night) => night[of]).sort((a, b) => a - b)[Math.floor(nights.length / 2)]!;
}

const most = (nights: readonly AgedNight[], of: keyof AgedNight) =>
  Math.max(...nights.map((night) => night[of]));

/** A table is compacted when that saves 8 row groups, and a night adds some to it. */
const mostRowGroups = 14;

/** Record files of older nights are put together when there are so many. */
const mostOldFiles = 16;

test('nights of a folder leave as many row groups, files and bytes as the ones before', async () => {
  const nights = await age(bar('nights'), { assets: 120, keepRawDays: 2, jobs: ['collections'] }, runNight);
  const [early, late] = [nights.slice(3, 6), nights.slice(-3)];
  expect(most(nights, 'mostRowGroups')).toBeLessThanOrEqual(mostRowGroups);
  expect(median(late, 'archivedSegments')).toBeLessThanOrEqual(median(early, 'archivedSegments') * 1.3);
  for (const { archiveFiles, archivedSegments } of nights)
    expect(archiveFiles).toBeLessThanOrEqual(2 * archivedSegments + mostOldFiles + 4);
  expect(median(late, 'archiveBytes')).toBeLessThanOrEqual(median(early, 'archiveBytes') * 1.5);
  expect(median(late, 'buildBytes')).toBeLessThanOrEqual(median(early, 'buildBytes') * 1.5);
  showFigure('nights', { done: nights.length });
});

release.each([
  { bar: 'agedNights', assets: 600, keepRawDays: 10, early: 5, settled: 20 },
  { bar: 'yearNights', assets: 300, keepRawDays: 30, early: 5, settled: 60 },
] as const)('$bar cost what the fifth did', async ({ bar: name, assets, keepRawDays, early, settled }) => {
  const nights = await age(bar(name), { assets, keepRawDays });
  const around = (night: number) => nights.slice(night - 2, night + 1);
  const [first, full, last] = [around(early), around(settled), nights.slice(-3)];
  expect(most(nights, 'mostRowGroups')).toBeLessThanOrEqual(mostRowGroups);
  expect(median(last, 'cpuSeconds')).toBeLessThanOrEqual(median(first, 'cpuSeconds') * 1.1);
  expect(median(last, 'peakMb')).toBeLessThanOrEqual(median(first, 'peakMb') * 1.1);
  expect(median(last, 'archiveBytes')).toBeLessThanOrEqual(median(full, 'archiveBytes') * 1.3);
  expect(median(last, 'archiveFiles')).toBeLessThanOrEqual(median(full, 'archiveFiles') * 1.3);
  const ratio = (of: keyof AgedNight) => (median(last, of) / median(first, of)).toFixed(2);
  showFigure(name, {
    done: nights.length,
    note: `the last took ${ratio('cpuSeconds')} of the fifth's CPU, ${ratio('peakMb')} of its memory`,
  });
});
