import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { readApiKey } from '../../src/api/api-key.ts';
import { readJobFiles } from '../../src/commands/job-files.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { type DataFolder, dataFolder } from '../../src/data-folder.ts';
import { LedgerlakeError } from '../../src/errors.ts';
import { readJobs, readNamedJobs } from '../../src/jobs/job-file.ts';
import type { Published } from '../../src/publish/published.ts';
import { findForgettable, forgetRows } from '../../src/run/forget-stage.ts';
import { withSession } from '../../src/run/open-session.ts';
import { publishLoaded } from '../../src/run/publish-stage.ts';
import { rebuild } from '../../src/run/repair-build.ts';
import type { RunReport } from '../../src/run/run-outcome.ts';
import { runPipeline } from '../../src/run/run-pipeline.ts';
import {
  checkFreshness,
  checkHeld,
  checkWaiting,
  type FreshnessFinding,
} from '../../src/status/check-freshness.ts';
import type { PublishedTarget } from '../../src/status/published-status.ts';
import { readStatus, type Status } from '../../src/status/read-status.ts';
import { aheadBy, clockGain } from './clock.ts';
import { readAllTables, readRows, type TableRows } from './rows.ts';
import { type Call, type Script, startScriptedApi } from './scripted-api.ts';

/** How a night ended. */
export interface NightEnded {
  /** The exit code that the command would have. */
  code: number;
  /** What it reported; null where it threw. */
  report: RunReport | null;
  /** What it threw. */
  error: LedgerlakeError | null;
  /** What it asked the API. */
  calls: readonly Call[];
}

export interface NightOptions {
  /** Names of the jobs to run. Default: all. */
  jobs?: readonly string[];
  /** Hours since the night before began. Default: 24. */
  hoursLater?: number;
  /** What `--accept` was given. */
  accept?: readonly string[];
  maxRequests?: number;
  /** The targets that `quarantine retry --ask` asks again, as `job/target`. Default: all. */
  only?: readonly string[];
  /** `--full-refresh`, with names of jobs. Default: false. */
  fullRefresh?: boolean;
  /** Days that this computer's clock is ahead of the API's that night. Default: 0. */
  clockAheadDays?: number;
  /** Days that the answers' `Date` is ahead of the API's time that night. Default: 0. */
  datesAheadDays?: number;
}

/** One installation (jobs, config, data folder) against an API of the test's own, played in this process. */
export interface Installation {
  data: string;
  /** One `ledgerlake run` against the script, without the export. Its clock runs 20 times as fast. */
  night(script: Script, options?: NightOptions): Promise<NightEnded>;
  /** Writes one of its files anew. */
  write(path: string, text: string): Promise<void>;
  /** `ledgerlake publish`, with `--accept` for each id. */
  publish(...accept: string[]): Promise<Published>;
  /** The same, for everything that is held back. */
  acceptAll(): Promise<Published>;
  /** `ledgerlake forget <name> --yes`. @returns rows closed, by table */
  forget(name: string): Promise<Record<string, number>>;
  /** `ledgerlake rebuild --from-archive`. @returns its exit code */
  rebuild(): Promise<number>;
  /** What `ledgerlake check` finds. */
  check(): Promise<FreshnessFinding[]>;
  /** The only target of a job, as `ledgerlake status <job>` reads it. */
  target(job: string): Promise<PublishedTarget>;
  /** Rows of the snapshot: 64-bit numbers and times as text. */
  rows<T = Record<string, unknown>>(sql: string): Promise<T[]>;
  /** All tables and histories of the snapshot; see `readAllTables`. */
  tables(besides?: RegExp): Promise<TableRows>;
  /** Keeps it as it is now until all tests have ended: others begin with it. */
  keep(): Promise<KeptInstallation>;
}

/** A folder of an installation after some nights, and the hours of its clock. */
export interface KeptInstallation {
  root: string;
  hours: number;
}

/**
 * Opens an installation, removed when the test ends.
 * @param files by path below its folder: `jobs/a.yaml`, `ledgerlake.yaml`
 * @param begunAs what it begins with
 */
export async function openInstallation(
  files: Readonly<Record<string, string>>,
  begunAs?: KeptInstallation,
): Promise<Installation> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-nights-'));
  if (begunAs !== undefined) await copyFolder(begunAs.root, root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const api = await startScriptedApi();
  onTestFinished(async () => {
    await api.close();
    await rm(root, { recursive: true, force: true });
  });
  const folder = dataFolder(join(root, 'data'));
  const { url } = api;
  const env = { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_WALLET_URL: url, LEDGERLAKE_WEBHOOK_URL: url };
  const config = await readConfig({ cwd: root, env: { ...env, LEDGERLAKE_API_KEY: 'sandbox' } });
  let hours = begunAs?.hours ?? 0;
  /** Does work at the installation's time, which does not go back afterwards. */
  const play = async <T>(work: () => Promise<T>, wrongMs = 0): Promise<T> => {
    const startedAt = performance.now();
    const result = await aheadBy(Math.round(hours * 3_600_000) + wrongMs, work);
    hours += clockGain(performance.now() - startedAt) / 3_600_000;
    return result;
  };
  return {
    data: folder.root,
    async night(script, options = {}) {
      hours += options.hoursLater ?? 24;
      api.setScript(script);
      const wrongMs = (options.clockAheadDays ?? 0) * 86_400_000;
      api.setClockBehind(wrongMs - (options.datesAheadDays ?? 0) * 86_400_000);
      const ended = await play(() => runNight(root, folder, config, url, options), wrongMs);
      return { ...ended, calls: api.calls };
    },
    write: (path, text) => writeFile(join(root, path), text),
    publish: (...accept) => play(() => publishAll(folder, config, accept)),
    acceptAll: async () => {
      const held = await readRows<{ id: string }>(folder.snapshot, 'select distinct id from meta.held');
      return play(() =>
        publishAll(
          folder,
          config,
          held.map(({ id }) => id),
        ),
      );
    },
    forget: (name) => play(() => forgetAll(folder, config, name)),
    rebuild: () => play(() => rebuildAll(folder, config)),
    check: () => play(() => checkAll(root, folder, config)),
    target: async (job) => {
      const { targets } = await statusOf(root, folder, config, job);
      return (targets ?? [])[0] as PublishedTarget;
    },
    rows: (sql) => readRows(folder.snapshot, sql),
    tables: (besides) => readAllTables(folder.snapshot, besides),
    async keep() {
      const kept = await mkdtemp(join(tmpdir(), 'ledgerlake-kept-'));
      await copyFolder(root, kept);
      return { root: kept, hours };
    },
  };
}

function copyFolder(from: string, to: string): Promise<void> {
  return cp(from, to, { recursive: true, verbatimSymlinks: true });
}

async function runNight(
  root: string,
  folder: DataFolder,
  config: Config,
  url: string,
  { jobs = [], accept = [], maxRequests, only, fullRefresh = false }: NightOptions,
): Promise<Omit<NightEnded, 'calls'>> {
  try {
    const report = await runPipeline({
      ...{ verb: 'run', config, folder, showProgress: false },
      ...{ namedByUser: jobs.length > 0, fullRefresh: fullRefresh || only !== undefined },
      accept,
      log: pino({ level: 'silent' }),
      jobs: await readNamedJobs(join(root, 'jobs'), only ?? jobs),
      api: {
        endpoints: { rpc: url, wallet: url, webhook: url },
        key: readApiKey({ LEDGERLAKE_API_KEY: 'sandbox' }),
        // As the sandbox: the script has no limit to find out.
        sandbox: true,
      },
      // The port differs from installation to installation; to the folder it is one source.
      origins: { rpc: 'scripted', wallet: 'scripted', webhook: 'scripted' },
      limits: { maxRequests: maxRequests ?? null, maxCredits: null, until: null },
      afterSnapshot: async () => {},
    });
    return { code: report.exitCode, report, error: null };
  } catch (error) {
    if (!(error instanceof LedgerlakeError)) throw error;
    return { code: error.exitCode, report: null, error };
  }
}

async function publishAll(folder: DataFolder, config: Config, accept: readonly string[]): Promise<Published> {
  const log = pino({ level: 'silent' });
  const described = { config, folder, log, verb: 'publish', jobs: [], origins: {} };
  const { published } = await withSession(described, async (session) => {
    const { published, exitCode } = await publishLoaded(session, [], accept);
    return { published, exitCode, stopped: null };
  });
  return published;
}

async function forgetAll(folder: DataFolder, config: Config, name: string): Promise<Record<string, number>> {
  const log = pino({ level: 'silent' });
  const described = { config, folder, log, verb: 'forget', jobs: [], origins: {} };
  const { tables } = await withSession(described, async (session) => {
    const { tables } = await findForgettable(session, name);
    await forgetRows(session, name);
    return { tables, exitCode: 0, stopped: null };
  });
  return tables;
}

async function rebuildAll(folder: DataFolder, config: Config): Promise<number> {
  const log = pino({ level: 'silent' });
  const described = { config, folder, log, verb: 'rebuild', jobs: [], origins: {} };
  const { exitCode } = await withSession(described, async (session) => {
    const replayed = await rebuild(session, true);
    const { exitCode } = await publishLoaded(session, replayed.refused);
    return { exitCode, stopped: null };
  });
  return exitCode;
}

async function statusOf(root: string, folder: DataFolder, config: Config, job: string): Promise<Status> {
  const files = await readJobFiles(join(root, 'jobs'));
  return readStatus(folder, config, job, files, new AbortController().signal);
}

async function checkAll(root: string, folder: DataFolder, config: Config): Promise<FreshnessFinding[]> {
  const names = (await readJobs(join(root, 'jobs'), [])).map(({ name }) => name);
  const statuses: Status[] = [];
  for (const name of names) statuses.push(await statusOf(root, folder, config, name));
  const held = statuses.flatMap((status) => status.held);
  return [
    ...checkFreshness(statuses, 26 * 3_600_000, Date.now()),
    ...checkHeld(held, names, () => ''),
    ...checkWaiting(statuses[0]?.waiting ?? [], names),
  ];
}
