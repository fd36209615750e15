import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import type { Job } from '../jobs/job.ts';
import { exists } from '../landing/segment-files.ts';
import { planJobs } from '../run/plan-jobs.ts';
import { readMonthlyLeft, readRates } from '../run/run-client.ts';
import { quoteForShell } from '../shell-words.ts';
import { formatCount } from '../words.ts';
import type { Finding } from './examine-folder.ts';

/** Something that `doctor` says whether it is right or wrong. */
export interface Fact {
  about: string;
  text: string;
}

/** What the next run needs beside what there is of it: requests a second, credits, disk. Asks nothing. */
export async function examineNeeds(
  jobs: readonly Job[],
  config: Config,
  folder: DataFolder,
  signal: AbortSignal,
): Promise<{ facts: Fact[]; findings: Finding[] }> {
  const hasSnapshot = await exists(folder.snapshot);
  const asked = { areNamed: false, fullRefresh: false };
  const plan = await planJobs(jobs, config, folder, hasSnapshot, asked, signal);
  const sum = (field: 'requests' | 'credits' | 'diskBytes') =>
    plan.reduce((total, job) => total + job[field], 0);
  const [requests, credits, landing] = [sum('requests'), sum('credits'), sum('diskBytes')];
  const least = plan.some((job) => job.unknown > 0 || job.waitsFor !== null) ? 'at least' : 'about';
  const creditsLeft = await readMonthlyLeft({ config, folder });
  const disk = await readDisk(folder);
  const findings: Finding[] = [];
  if (creditsLeft !== null && credits > creditsLeft)
    findings.push({
      about: 'credits',
      message: `the next run needs ${formatCount(credits)} credits, and this month has ${formatCount(creditsLeft)} left`,
      repair: 'ledgerlake plan',
      exitCode: 0,
    });
  // The landing log and its staging beside each other, and the copy that becomes the snapshot.
  const needed = 2 * landing + disk.build;
  // Of a first crawl nothing is known.
  const needs =
    needed === 0
      ? 'what the next run needs is not known yet'
      : `the next run needs about ${megabytes(needed)}`;
  if (disk.free < needed)
    findings.push({
      about: 'disk',
      message: `${folder.root} has ${megabytes(disk.free)} free, and the next run needs about ${megabytes(needed)}`,
      repair: `df -h ${quoteForShell(disk.place)}`,
      exitCode: 74,
    });
  const left = creditsLeft === null ? 'no monthly budget' : `${formatCount(creditsLeft)} left this month`;
  return {
    facts: [
      { about: 'disk', text: `${megabytes(disk.free)} free, ${needs}` },
      { about: 'limits', text: await describeLimits(jobs, config, folder) },
      {
        about: 'next run',
        text: `${least} ${formatCount(requests)} requests, ${formatCount(credits)} credits (${left}): ledgerlake plan`,
      },
    ],
    findings,
  };
}

/** Free bytes where the data folder is, or will be, and those of the build. */
async function readDisk({
  root,
  build,
}: DataFolder): Promise<{ free: number; build: number; place: string }> {
  let place = resolve(root);
  while (!(await exists(place))) place = dirname(place);
  const { bavail, bsize } = await statfs(place);
  return { free: bavail * bsize, build: (await exists(build)) ? (await stat(build)).size : 0, place };
}

async function describeLimits(jobs: readonly Job[], config: Config, folder: DataFolder): Promise<string> {
  const learnt = await readRates(folder.rates);
  const pools = [...new Set(jobs.map(({ operation }) => operation.pool))];
  const shown = pools.map((pool) => {
    const configured = config.limits[pool]?.rps;
    if (configured !== undefined) return `${pool} ${configured} requests/s`;
    const found = learnt[pool];
    return found === undefined
      ? `${pool} not known: a run finds it, beginning at 2 requests/s, unless api.limits.${pool}.rps is set`
      : `${pool} ${found.toFixed(1)} requests/s, as found out`;
  });
  return shown.join('; ');
}

function megabytes(bytes: number): string {
  return bytes >= 10e9 ? `${Math.round(bytes / 1e9)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
