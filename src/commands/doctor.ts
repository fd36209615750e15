import { relative } from 'node:path';
import { findKeyVariable, readApiKey } from '../api/api-key.ts';
import { describeKeyPlace } from '../api/key-place.ts';
import type { Config } from '../config/config.ts';
import { LedgerlakeError, UsageError } from '../errors.ts';
import { listJobNames, readJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import type { Transport } from '../operations/operation.ts';
import { checkLake } from '../run/export-stage.ts';
import { probeLake } from '../run/lake-stage.ts';
import { editorCommand, quoteForShell } from '../shell-words.ts';
import { askOnce, chooseProbes, describeProbe, listFaults } from '../status/examine-api.ts';
import { examineFolder, type Finding } from '../status/examine-folder.ts';
import { examineNeeds, type Fact } from '../status/examine-needs.ts';
import type { Probe } from '../status/probe-api.ts';
import { type Repaired, repairFolder } from '../status/repair-folder.ts';
import { untilStopped } from '../stop-signals.ts';
import { chooseFolder, createLog, createPrint, type GlobalArgs, openConfig } from './context.ts';
import { askMethods, openProber } from './doctor-methods.ts';
import { originsOf, requireUrls, urlsOf } from './endpoints.ts';
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
    '--repair': 'Set damaged pages and files aside; keep all others',
    '--methods': 'Call every method once to see whether the provider has it; shows the credits first',
    '--offline': 'Send no request',
    '--yes': '--methods: do not ask before spending credits',
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
  const api = config === null ? null : openApi(config);
  if (hasFolder) findings.push(...(await examineFolder(folder, settings, api?.origins)).findings);
  const facts: Fact[] = [];
  const probes: Probe[] = [];
  if (config !== null) {
    facts.push(...(await describeSettings(args, config)));
    const lake = await examineLake({ config, folder, jobsDir: args.jobsDir }, args.offline);
    facts.push(...lake.facts);
    findings.push(...lake.findings);
    const needs = await untilStopped((signal) => findNeeds(args, config, folder, signal));
    const hasUrl = Object.values(urlsOf(config)).some((url) => url !== undefined);
    const isReady = hasUrl && !findings.some(({ about }) => about === 'config');
    const probed = args.offline || !isReady || api === null ? null : await probeApi(config, folder, api);
    facts.push(...needs.facts, ...(probed?.facts ?? []));
    findings.push(...needs.findings, ...(probed?.findings ?? []));
    probes.push(...(probed?.probes ?? []));
  }
  const exitCode = decideExitCode(findings);
  const versions = { ledgerlake: readVersion(), node: process.versions.node };
  const text = renderDiagnosis({ versions, facts, findings, repaired, root: folder.root, hasFolder });
  createPrint(args)(wrapText(text, terminalWidth()), {
    ...{ exitCode, versions, facts, findings, probes, repaired },
  });
  return exitCode;
}

/** Enough to look at the folder where the config cannot be read. */
const defaultWarehouse = { memoryLimit: '512MB', threads: 1 } as Config['warehouse'];

type Folder = ReturnType<typeof chooseFolder>;
interface Examined {
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
  // Without a URL or a key, all else can be examined.
  let config: Config | null = null;
  try {
    config = await openConfig(args, false);
    await openConfig(args, true, () => undefined);
  } catch (error) {
    findings.push(asFinding('config', error));
  }
  return { config, findings };
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
): Promise<Examined> {
  const names = await listJobNames(args.jobsDir).catch(() => []);
  if (names.length === 0) {
    const text = `there are none in ${args.jobsDir}: ledgerlake init . creates some`;
    return { facts: [{ about: 'jobs', text }], findings: [] };
  }
  try {
    const jobs = await readJobs(args.jobsDir);
    requireUrls(config, jobs);
    return await examineNeeds(jobs, config, folder, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // examineFolder has reported what is wrong with the tables.
    if (!(error instanceof UsageError)) return { facts: [], findings: [] };
    return { facts: [], findings: [asFinding('jobs', error)] };
  }
}

/** What the config says of the lake, and whether it can be reached. */
async function examineLake(settings: Parameters<typeof checkLake>[0], offline: boolean): Promise<Examined> {
  try {
    await checkLake(settings);
    if (offline) return { facts: [], findings: [] };
    const { text, slow } = await probeLake(settings);
    const message = `deleted rows have piled up in ${slow.join(', ')}: every reader skips them`;
    const repair = 'docs/lake.md has the procedure for Iceberg: rewrite_data_files';
    return {
      facts: [{ about: 'lake', text }],
      findings: slow.length === 0 ? [] : [{ about: 'lake', message, repair, exitCode: 0 }],
    };
  } catch (error) {
    if (!(error instanceof LedgerlakeError)) throw error;
    const { message, hint, exitCode } = error;
    return { facts: [], findings: [{ about: 'lake', message, repair: hint, exitCode }] };
  }
}

/** What the config says of the API. The key is read once, because it may come from a pipe. */
function openApi(config: Config) {
  const { envFiles, keyPlaces: places, sandbox } = config;
  const urls = Object.entries(urlsOf(config)).map(([name, url = '']) => [name, url] as const);
  const endpoints: Record<string, string> = Object.fromEntries(
    urls.filter(([, url]) => sandbox || url !== ''),
  );
  const key = readApiKey(process.env, { envFiles, places });
  return { endpoints, key, origins: originsOf({ endpoints, sandbox, key }) };
}

/** One request an interface. */
async function probeApi(
  config: Config,
  folder: Folder,
  { endpoints, key }: ReturnType<typeof openApi>,
): Promise<Examined & { probes: Probe[] }> {
  const { envFiles } = config;
  const keyRepair = (transport: Transport) => {
    const variable = findKeyVariable(transport, process.env, envFiles);
    return variable?.file == null
      ? `export ${variable?.name ?? 'LEDGERLAKE_API_KEY'}=…`
      : `${editorCommand} ${quoteForShell(relative(process.cwd(), variable.file))}`;
  };
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
      findings: probes.flatMap((probe) => listFaults(probe, config, keyRepair(probe.transport))),
    };
  } finally {
    await prober.close();
  }
}

/** The exit code that a run with these problems would have. Pure. */
function decideExitCode(findings: readonly Finding[]): number {
  return [77, 74, 2, 69, 75].find((code) => findings.some(({ exitCode }) => exitCode === code)) ?? 0;
}

/** The settings in force: config file, environment, interfaces, and the source and use of the key. */
export async function describeSettings({ config: configFile }: GlobalArgs, config: Config): Promise<Fact[]> {
  const file = configFile ?? ((await exists('ledgerlake.yaml')) ? 'ledgerlake.yaml' : null);
  const { environment, envFiles, sandbox } = config;
  const envPaths = envFiles.map((path) => relative(process.cwd(), path) || path);
  const parts = [
    file ?? 'no config file',
    environment === null ? null : `environment ${environment}`,
    ...envPaths,
  ];
  const facts = [{ about: 'config', text: parts.filter((part) => part !== null).join(', ') }];
  if (sandbox) return [...facts, { about: 'api', text: 'no URL is set: the embedded sandbox answers' }];
  const uses = new Map<string, string[]>();
  for (const [name, url] of Object.entries(urlsOf(config))) {
    if (url === undefined) continue;
    const transport = name as Transport;
    const variable = findKeyVariable(transport, process.env, envFiles);
    const file = variable?.file == null ? '' : ` in ${relative(process.cwd(), variable.file)}`;
    const from = `${variable?.name ?? ''}${file}`;
    const use = `${transport} as ${describeKeyPlace(config.keyPlaces[transport])}`;
    uses.set(from, [...(uses.get(from) ?? []), use]);
  }
  const keys = [...uses].map(([from, sentTo]) => ({
    about: 'key',
    text: `from ${from}; sent to ${sentTo.join(', ')}`,
  }));
  return [...facts, ...keys];
}

export interface Diagnosis {
  versions: { ledgerlake: string; node: string };
  facts: readonly Fact[];
  findings: readonly Finding[];
  repaired: Repaired | null;
  root: string;
  hasFolder: boolean;
}

/** The report for people: facts, repairs, and every finding with its remedy. Pure. */
export function renderDiagnosis({ versions, facts, findings, repaired, root, hasFolder }: Diagnosis): string {
  const allFacts: Fact[] = [
    { about: 'program', text: `ledgerlake ${versions.ledgerlake}, Node ${versions.node}` },
    {
      about: 'data',
      text: hasFolder ? root : `there is no data folder ${root} yet: ledgerlake run makes it`,
    },
    ...facts,
  ];
  const width = Math.max(...allFacts.map(({ about }) => about.length));
  const lines = allFacts.map(({ about, text }) => `${about.padEnd(width)}  ${text}`);
  lines.push('', ...(repaired?.done ?? []));
  if (repaired !== null && repaired.pages.setAside > 0)
    lines.push(`${repaired.pages.setAside} pages set aside, ${repaired.pages.kept} kept`);
  for (const { job, target, fromPage } of repaired?.askedAgain ?? [])
    lines.push(
      `crawled again by the next run: ${job}${target === '' ? '' : ` ${target}`}, from page ${fromPage} on`,
    );
  for (const { about, message, repair, note } of findings)
    lines.push(`${about}: ${message}${note === undefined ? '' : ` (${note})`}`, `  ${repair}`);
  if (findings.length === 0) lines.push('nothing is wrong');
  return lines.join('\n');
}
