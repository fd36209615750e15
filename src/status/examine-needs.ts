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

/** Something that `doctor` reports although nothing is wrong. */
export interface Fact {
  about: string;
  text: string;
}

/** Compares what the next run needs with what there is: requests a second, credits, disk. Sends no request. */
export async function examineNeeds(
  jobs: readonly Job[],
  config: Config,
  folder: DataFolder,
  signal: AbortSignal,
): Promise<{ facts: Fact[]; findings: Finding[] }> {
  const hasSnapshot = await exists(folder.snapshot);
  const planOptions = { mayBeginRound: false, fullRefresh: false };
  const plan = await planJobs(jobs, config, folder, hasSnapshot, planOptions, signal);
  const sum = (field: 'requests' | 'credits' | 'diskBytes') =>
    plan.reduce((total, job) => total + job[field], 0);
  const [requests, credits, landing] = [sum('requests'), sum('credits'), sum('diskBytes')];
  const bound = plan.some((job) => job.unknown > 0 || job.waitsFor !== null) ? 'at least' : 'about';
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
  // The landing log, its staging, and the copy that becomes the snapshot.
  const needed = 2 * landing + disk.build;
  // Nothing is known of a first crawl.
  const needs =
    needed === 0
      ? 'what the next run needs is not known yet'
      : `the next run needs about ${megabytes(needed)}`;
  if (disk.free < needed)
    findings.push({
      about: 'disk',
      message: `${folder.root} has ${megabytes(disk.free)} free, and the next run needs about ${megabytes(needed)}`,
      repair: `df -h ${quoteForShell(disk.folder)}`,
      exitCode: 74,
    });
  const budget = creditsLeft === null ? 'no monthly budget' : `${formatCount(creditsLeft)} left this month`;
  return {
    facts: [
      { about: 'disk', text: `${megabytes(disk.free)} free, ${needs}` },
      { about: 'limits', text: await describeLimits(jobs, config, folder) },
      {
        about: 'next run',
        text: `${bound} ${formatCount(requests)} requests, ${formatCount(credits)} credits (${budget}): ledgerlake plan`,
      },
    ],
    findings,
  };
}

/** Free bytes where the data folder is, or will be, and those of the build. */
async function readDisk({
  root,
  build,
}: DataFolder): Promise<{ free: number; build: number; folder: string }> {
  let folder = resolve(root);
  while (!(await exists(folder))) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  return { free: bavail * bsize, build: (await exists(build)) ? (await stat(build)).size : 0, folder };
}

async function describeLimits(jobs: readonly Job[], config: Config, folder: DataFolder): Promise<string> {
  const learnt = await readRates(folder.rates);
  const pools = [...new Set(jobs.map(({ operation }) => operation.pool))];
  const limits = pools.map((pool) => {
    const configured = config.limits[pool]?.rps;
    if (configured !== undefined) return `${pool} ${configured} requests/s`;
    const rps = learnt[pool];
    return rps === undefined
      ? `${pool} not known: a run learns it, from 2 requests/s on, unless api.limits.${pool}.rps is set`
      : `${pool} ${rps.toFixed(1)} requests/s, as learnt`;
  });
  return limits.join('; ');
}

function megabytes(bytes: number): string {
  return bytes >= 10e9 ? `${Math.round(bytes / 1e9)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
