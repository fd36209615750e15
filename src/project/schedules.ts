import { readFileSync } from 'node:fs';
import { packageRoot } from '../package-root.ts';
import { quoteForShell } from '../shell-words.ts';
import type { ProjectFile, ProjectOptions, Schedule } from './project.ts';

type ScheduleOptions = Pick<ProjectOptions, 'folder' | 'program' | 'version'>;

/** The templates of each schedule, and the path that each becomes in the project. */
const templates: Readonly<Record<Schedule, Readonly<Record<string, string>>>> = {
  cron: { crontab: 'schedule/crontab' },
  systemd: {
    'ledgerlake.service': 'schedule/ledgerlake.service',
    'ledgerlake.timer': 'schedule/ledgerlake.timer',
    'ledgerlake-check.service': 'schedule/ledgerlake-check.service',
    'ledgerlake-check.timer': 'schedule/ledgerlake-check.timer',
  },
  github: { 'github-actions.yml': '.github/workflows/ledgerlake.yml' },
  kubernetes: { 'kubernetes.yaml': 'schedule/kubernetes.yaml' },
  airflow: { 'airflow_dag.py': 'schedule/airflow_dag.py' },
  dagster: { 'dagster_definitions.py': 'schedule/dagster_definitions.py' },
};

/**
 * Files that start a run every night at 02:30, stop it after five hours (the next run continues), and check the tables. Made of
 * `templates/`, where `{{<quoting>:<value>}}` stands for a value as the file's language writes it.
 */
export function scheduleFiles(schedule: Schedule, options: ScheduleOptions): ProjectFile[] {
  return Object.entries(templates[schedule]).map(([name, path]) => ({
    path,
    text: readFileSync(new URL(`templates/${name}`, packageRoot), 'utf8').replace(
      /\{\{(\w+):(folder|program|version)\}\}/g,
      (_, quoting: string, value: keyof ScheduleOptions) => {
        const quote = quotings[quoting];
        if (quote === undefined) throw new Error(`templates/${name} quotes as "${quoting}"`);
        return quote(options[value]);
      },
    ),
  }));
}

type Words = string | readonly string[];

/** How a path or a command line is written in a template's language. */
const quotings: Readonly<Record<string, (value: Words) => string>> = {
  plain: (value) => [value].flat().join(' '),
  json: (value) => JSON.stringify(value),
  /** A command line for a shell, in a JSON or Python string. */
  shell: (value) => JSON.stringify(shellWords(value)),
  /** cron takes a bare `%` for the end of the line. */
  cron: (value) => shellWords(value).replaceAll('%', '\\%'),
  /** `%` begins a specifier. A path stands bare; in a command line, words are quoted and `$` begins a variable. */
  systemd: (value) =>
    typeof value === 'string' ? value.replaceAll('%', '%%') : value.map(systemdWord).join(' '),
};

function shellWords(value: Words): string {
  return [value].flat().map(quoteForShell).join(' ');
}

function systemdWord(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(word) ? escaped : JSON.stringify(escaped);
}
