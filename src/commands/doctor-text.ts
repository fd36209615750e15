import { relative } from 'node:path';
import { describeKeyPlace, findKeyVariable } from '../api/api-key.ts';
import type { Config } from '../config/config.ts';
import { exists } from '../landing/segment-files.ts';
import type { Finding } from '../status/examine-folder.ts';
import type { Fact } from '../status/examine-needs.ts';
import type { Repaired } from '../status/repair-folder.ts';
import type { GlobalArgs } from './context.ts';
import { urlsOf } from './endpoints.ts';

/** What is in force: config file, environment, interfaces, and where the key is from and goes to. */
export async function describeSettings({ config: named }: GlobalArgs, config: Config): Promise<Fact[]> {
  const file = named ?? ((await exists('ledgerlake.yaml')) ? 'ledgerlake.yaml' : null);
  const { environment, envFiles, sandbox } = config;
  const shown = envFiles.map((path) => relative(process.cwd(), path) || path);
  const parts = [
    file ?? 'no config file',
    environment === null ? null : `environment ${environment}`,
    ...shown,
  ];
  const facts = [{ about: 'config', text: parts.filter((part) => part !== null).join(', ') }];
  if (sandbox) return [...facts, { about: 'api', text: 'no URL is set: the embedded sandbox answers' }];
  const used = findKeyVariable(process.env, envFiles);
  const from =
    used === null
      ? ''
      : `${used.name}${used.file === null ? '' : ` in ${relative(process.cwd(), used.file)}`}`;
  const given = Object.entries(urlsOf(config)).filter(([, url]) => url !== undefined);
  const places = given.map(
    ([name]) => `${name} as ${describeKeyPlace(config.keyPlaces[name as keyof Config['keyPlaces']])}`,
  );
  return [...facts, { about: 'key', text: `from ${from}; sent to ${places.join(', ')}` }];
}

export interface Diagnosis {
  versions: { ledgerlake: string; node: string };
  facts: readonly Fact[];
  findings: readonly Finding[];
  repaired: Repaired | null;
  root: string;
  hasFolder: boolean;
}

/** What a person reads: what is there, what was repaired, and what is wrong with what repairs it. Pure. */
export function renderDiagnosis({ versions, facts, findings, repaired, root, hasFolder }: Diagnosis): string {
  const shown: Fact[] = [
    { about: 'program', text: `ledgerlake ${versions.ledgerlake}, Node ${versions.node}` },
    {
      about: 'data',
      text: hasFolder ? root : `there is no data folder ${root} yet: ledgerlake run makes it`,
    },
    ...facts,
  ];
  const width = Math.max(...shown.map(({ about }) => about.length));
  const lines = shown.map(({ about, text }) => `${about.padEnd(width)}  ${text}`);
  lines.push('', ...(repaired?.done ?? []));
  if (repaired !== null && repaired.pages.setAside > 0)
    lines.push(`${repaired.pages.setAside} pages set aside, ${repaired.pages.kept} kept`);
  for (const { job, target, fromPage } of repaired?.askedAgain ?? [])
    lines.push(
      `asked again by the next run: ${job}${target === '' ? '' : ` ${target}`}, from page ${fromPage} on`,
    );
  for (const { about, message, repair, note } of findings)
    lines.push(`${about}: ${message}${note === undefined ? '' : ` (${note})`}`, `  ${repair}`);
  if (findings.length === 0) lines.push('nothing is wrong');
  return lines.join('\n');
}
