import { chmod, rename } from 'node:fs/promises';
import { writeSynced } from '../landing/segment-files.ts';
import type { Status } from '../status/read-status.ts';
import type { FinishedRun } from './finished-run.ts';

type Labels = Readonly<Record<string, string>>;

interface Metric {
  name: string;
  help: string;
  values: readonly (readonly [Labels, number])[];
}

/**
 * A run as Prometheus' text format has it, for node_exporter's textfile collector. Pure.
 * @param status null: it cannot be read
 */
export function renderMetrics(finished: FinishedRun, status: Status | null): string {
  const of = (value: number): Metric['values'] => [[{ verb: finished.verb }, value]];
  const jobs = Object.entries(finished.jobs);
  const rows = Object.entries(finished.tables).flatMap(([table, counts]) =>
    Object.values(counts).every((n) => n === 0)
      ? []
      : Object.entries(counts).map(([outcome, n]) => [{ table, outcome }, n] as const),
  );
  const metrics: Metric[] = [
    { name: 'run_exit_code', help: 'Exit code of the last run.', values: of(finished.exit_code) },
    {
      name: 'run_end_timestamp_seconds',
      help: 'When the last run ended, Unix time.',
      values: of(Date.parse(finished.finished_at) / 1000),
    },
    { name: 'run_duration_seconds', help: 'How long the last run took.', values: of(finished.seconds) },
    { name: 'run_requests', help: 'Requests of the last run.', values: of(finished.requests) },
    { name: 'run_credits', help: 'Credits of the last run.', values: of(finished.credits) },
    { name: 'run_requests_saved', help: 'Requests the last run did not need.', values: of(finished.saved) },
    {
      name: 'run_quarantined_records',
      help: 'Records of the last run with something that did not fit.',
      values: of(finished.quarantined),
    },
    {
      name: 'run_targets',
      help: 'Targets of the last run by job and state.',
      values: jobs.flatMap(([job, { tasks, done, failed }]) => [
        [{ job, state: 'complete' }, done - failed] as const,
        [{ job, state: 'failed' }, failed] as const,
        [{ job, state: 'open' }, tasks - done] as const,
      ]),
    },
    {
      name: 'run_records',
      help: 'Records that the last run received, by job.',
      values: jobs.map(([job, { records }]) => [{ job }, records] as const),
    },
    { name: 'run_rows', help: 'Rows of the last run by table and what became of them.', values: rows },
    ...(status === null ? [] : describeStatus(status)),
  ];
  return metrics.map(renderMetric).join('');
}

/** The data folder's own metrics. Times, not ages: the file stays as it is until the next run. */
function describeStatus({ jobs, creditsLeft, held }: Status): Metric[] {
  return [
    {
      name: 'job_complete_timestamp_seconds',
      help: "When a crawl of one of the job's targets was last complete, Unix time.",
      values: jobs.flatMap(({ job, last_complete, has_file }) =>
        last_complete === null || has_file === false
          ? []
          : [[{ job }, last_complete.getTime() / 1000] as const],
      ),
    },
    {
      name: 'credits_left',
      help: 'What is left of api.monthly_credits in this billing month.',
      values: creditsLeft === null ? [] : [[{}, creditsLeft]],
    },
    {
      name: 'held_crawls',
      help: 'Crawls that guards hold back until somebody accepts them.',
      values: [[{}, held.length]],
    },
  ];
}

function renderMetric({ name, help, values }: Metric): string {
  if (values.length === 0) return '';
  const lines = values.map(([labels, value]) => `ledgerlake_${name}{${renderLabels(labels)}} ${value}\n`);
  return `# HELP ledgerlake_${name} ${help}\n# TYPE ledgerlake_${name} gauge\n${lines.join('')}`;
}

function renderLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`)
    .join(',');
}

/** Writes the file whole or not at all, for everyone to read: the collector is another user. */
export async function writeMetrics(
  file: string,
  finished: FinishedRun,
  status: Status | null,
): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  await writeSynced(draft, renderMetrics(finished, status));
  await chmod(draft, 0o644);
  await rename(draft, file);
}
