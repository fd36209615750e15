import { relative } from 'node:path';
import { findKeyVariable, readApiKey } from '../api/api-key.ts';
import type { Config } from '../config/config.ts';
import { UsageError } from '../errors.ts';
import { listJobNames, readJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import { editorCommand, quoteForShell } from '../shell-words.ts';
import { askOnce, chooseProbes, describeProbe, judgeProbe } from '../status/examine-api.ts';
import { examineFolder, type Finding } from '../status/examine-folder.ts';
import { examineNeeds, type Fact } from '../status/examine-needs.ts';
import type { Probe } from '../status/probe-api.ts';
import { repairFolder } from '../status/repair-folder.ts';
import { untilStopped } from '../stop-signals.ts';
import { chooseFolder, createLog, createPrint, type GlobalArgs, openConfig } from './context.ts';
import { askMethods, openProber } from './doctor-methods.ts';
import { describeSettings, renderDiagnosis } from './doctor-text.ts';
import { requireUrls, urlsOf } from './endpoints.ts';
import { readVersion } from './program.ts';
import { terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';
import { wrapText } from './visible-text.ts';

interface DoctorArgs extends GlobalArgs {
  repair: boolean;
  methods: boolean;
  offline: boolean;
  yes: boolean;
}

/** Options of `ledgerlake doctor`. */
export const usage: Usage = {
  options: {
    '--repair': 'Set damaged pages and files aside, keep all others',
    '--methods': 'Ask every method once whether the provider has it; says the credits first',
    '--offline': 'Do not ask the API',
    '--yes': '--methods: do not ask before credits are spent',
  },
  examples: {
    'ledgerlake doctor':
      'Every finding with the command that repairs it; one request an interface, changes nothing',
    'ledgerlake doctor --methods': 'What the provider has, before jobs are written',
    'ledgerlake doctor --repair': 'When a command ended with 74 because of a damaged file',
  },
  notes:
    'Ends with 0 when nothing is wrong, or everything is repaired; else with 77 (key), 74 (files, rights, disk), 2 (config, versions) or 69 (API). What is set aside stays in damaged/ in the data folder.',
};

/** `ledgerlake doctor`: looks at program, config, data folder and API. */
export async function execute(args: DoctorArgs): Promise<number> {
  const { config, findings } = await examineProgram(args);
  if (args.methods && config !== null) return askMethods(args, config);
  const folder = chooseFolder(args, config?.environment ?? args.env ?? null);
  const hasFolder = await exists(folder.root);
  const settings = config ?? { warehouse: defaultWarehouse };
  const repaired =
    args.repair && hasFolder ? await repairFolder(folder, settings, createLog(args), new Date()) : null;
  if (hasFolder) findings.push(...(await examineFolder(folder, settings)).findings);
  const facts: Fact[] = [];
  const probes: Probe[] = [];
  if (config !== null) {
    facts.push(...(await describeSettings(args, config)));
    const needs = await untilStopped((signal) => findNeeds(args, config, folder, signal));
    const api = args.offline || config.sandbox ? null : await probeApi(config, folder);
    facts.push(...needs.facts, ...(api?.facts ?? []));
    findings.push(...needs.findings, ...(api?.findings ?? []));
    probes.push(...(api?.probes ?? []));
  }
  const exitCode = decideExitCode(findings);
  const versions = { ledgerlake: readVersion(), node: process.versions.node };
  const told = renderDiagnosis({ versions, facts, findings, repaired, root: folder.root, hasFolder });
  createPrint(args)(wrapText(told, terminalWidth()), {
    ...{ exitCode, versions, facts, findings, probes, repaired },
  });
  return exitCode;
}

/** Enough to look at the folder where the config cannot be read. */
const defaultWarehouse = { memoryLimit: '512MB', threads: 1 } as Config['warehouse'];

type Folder = ReturnType<typeof chooseFolder>;
interface Found {
  facts: Fact[];
  findings: Finding[];
}

/** Node and config. */
async function examineProgram(args: GlobalArgs): Promise<{ config: Config | null; findings: Finding[] }> {
  const findings: Finding[] = [];
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    const message = `Node ${process.versions.node} is older than 20.19`;
    findings.push({ about: 'node', message, repair: 'nvm install 20', exitCode: 2 });
  }
  try {
    return { config: await openConfig(args, true), findings };
  } catch (error) {
    findings.push(asFinding('config', error));
    return { config: null, findings };
  }
}

/** @throws what is no mistake of the user */
function asFinding(about: 'config' | 'jobs', error: unknown): Finding {
  if (!(error instanceof UsageError)) throw error;
  return { about, message: error.message, repair: error.hint, exitCode: 2 };
}

/** What the next run needs, where there are jobs and tables that can be read. */
async function findNeeds(
  args: GlobalArgs,
  config: Config,
  folder: Folder,
  signal: AbortSignal,
): Promise<Found> {
  const names = await listJobNames(args.jobsDir).catch(() => []);
  if (names.length === 0) {
    const text = `there are none in ${args.jobsDir}: ledgerlake init . makes some`;
    return { facts: [{ about: 'jobs', text }], findings: [] };
  }
  try {
    const jobs = await readJobs(args.jobsDir);
    requireUrls(config, jobs);
    return await examineNeeds(jobs, config, folder, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // What is wrong with the tables was found before.
    if (!(error instanceof UsageError)) return { facts: [], findings: [] };
    return { facts: [], findings: [asFinding('jobs', error)] };
  }
}

/** One request an interface. */
async function probeApi(config: Config, folder: Folder): Promise<Found & { probes: Probe[] }> {
  const urls = urlsOf(config);
  const endpoints = Object.fromEntries(Object.entries(urls).filter(([, url]) => url !== undefined));
  const { envFiles, keyPlaces: places } = config;
  const key = readApiKey(process.env, { envFiles, places });
  const found = findKeyVariable(process.env, envFiles);
  const keyMend =
    found?.file == null
      ? `export ${found?.name ?? 'LEDGERLAKE_API_KEY'}=…`
      : `${editorCommand} ${quoteForShell(relative(process.cwd(), found.file))}`;
  const prober = openProber({ endpoints, key, config }, folder);
  try {
    const probes = await untilStopped((signal) =>
      askOnce(prober, chooseProbes(endpoints), config.limits, signal),
    );
    return {
      probes,
      facts: probes.map((probe) => ({
        about: probe.transport,
        text: `${probe.origin}: ${describeProbe(probe)}`,
      })),
      findings: probes.flatMap((probe) => judgeProbe(probe, config, keyMend)),
    };
  } finally {
    await prober.close();
  }
}

/** The code of a run that would meet all of this. Pure. */
function decideExitCode(findings: readonly Finding[]): number {
  return [77, 74, 2, 69, 75].find((code) => findings.some(({ exitCode }) => exitCode === code)) ?? 0;
}
