import type { Config } from '../config.ts';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';
import { examineFolder, type Finding } from '../pipeline/examine-folder.ts';
import { type Repaired, repairFolder } from '../pipeline/repair-folder.ts';
import { chooseFolder, createLog, createPrint, type GlobalArgs, openConfig } from './context.ts';
import { readVersion } from './program.ts';
import type { Usage } from './usage.ts';

interface DoctorArgs extends GlobalArgs {
  repair: boolean;
}

/** Options of `ledgerlake doctor`. */
export const usage: Usage = {
  options: { '--repair': 'Set damaged pages and files aside, keep all others' },
  examples: {
    'ledgerlake doctor': 'Every finding with what mends it; asks nothing, changes nothing',
    'ledgerlake doctor --repair': 'When a command ended with 74 because of a damaged file',
  },
  notes:
    'Ends with 0 when nothing is wrong, or all of it is mended; else with 74 (files, rights) or 2 (config, versions). What is set aside stays in damaged/ in the data folder.',
};

/** `ledgerlake doctor`: looks at program, config and data folder. */
export async function execute(args: DoctorArgs): Promise<number> {
  const { config, findings } = await examineProgram(args);
  const folder = chooseFolder(args, config?.environment ?? null);
  const hasFolder = await exists(folder.root);
  const settings = config ?? { warehouse: defaultWarehouse };
  const repaired =
    args.repair && hasFolder ? await repairFolder(folder, settings, createLog(args), new Date()) : null;
  if (hasFolder) findings.push(...(await examineFolder(folder, settings)).findings);
  const exitCode = decideExitCode(findings);
  const versions = { ledgerlake: readVersion(), node: process.versions.node };
  createPrint(args)(renderFindings(findings, repaired, folder.root, hasFolder), {
    exitCode,
    versions,
    findings,
    repaired,
  });
  return exitCode;
}

/** Enough to look at the folder where the config cannot be read. */
const defaultWarehouse = { memoryLimit: '512MB', threads: 1 } as Config['warehouse'];

/** Node and config. */
async function examineProgram(args: GlobalArgs): Promise<{ config: Config | null; findings: Finding[] }> {
  const findings: Finding[] = [];
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    const message = `Node ${process.versions.node} is older than 20.19`;
    findings.push({ about: 'node', message, mend: 'Install Node 20.19 or newer.', exitCode: 2 });
  }
  try {
    return { config: await openConfig(args, true), findings };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    findings.push({ about: 'config', message: error.message, mend: error.hint, exitCode: 2 });
    return { config: null, findings };
  }
}

/** The code of a run that would meet all of this. Pure. */
function decideExitCode(findings: readonly Finding[]): number {
  return [74, 2, 75].find((code) => findings.some(({ exitCode }) => exitCode === code)) ?? 0;
}

/** What a person reads. Pure. */
function renderFindings(
  findings: readonly Finding[],
  repaired: Repaired | null,
  root: string,
  hasFolder: boolean,
): string {
  const lines = [...(repaired?.done ?? [])];
  if (repaired !== null && repaired.pages.setAside > 0)
    lines.push(`${repaired.pages.setAside} pages set aside, ${repaired.pages.kept} kept`);
  for (const { job, target, fromPage } of repaired?.askedAgain ?? [])
    lines.push(
      `asked again by the next run: ${job}${target === '' ? '' : ` ${target}`}, from page ${fromPage} on`,
    );
  for (const { about, message, mend } of findings) lines.push(`${about}: ${message}`, `  ${mend}`);
  if (!hasFolder) lines.push(`there is no data folder ${root} yet: ledgerlake run makes it`);
  else if (findings.length === 0) lines.push('nothing is wrong');
  return lines.join('\n');
}
