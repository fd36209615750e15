import { withoutKey } from '../api/api-key.ts';
import { refuseOwnPath } from '../data-folder.ts';
import { LedgerlakeError } from '../errors.ts';
import { describeFinished, type FinishedRun } from '../report/finished-run.ts';
import { writeMetrics } from '../report/metrics.ts';
import { runFinishHooks } from '../report/on-finish.ts';
import { readRuns } from '../run/read-runs.ts';
import { readStatus } from '../status/read-status.ts';
import type { Context } from './context.ts';
import { readJobFiles } from './job-files.ts';

/** What a run's report needs, apart from stdout. */
export interface AfterRun {
  verb: string;
  /** `--metrics-file`. */
  metricsFile: string | undefined;
}

/**
 * Runs `work`, then reports its outcome: metrics, `on_finish`, traces. None of these changes the exit code, or what is
 * thrown.
 * @throws UsageError, before it begins, for a metrics file in the data folder
 */
export async function reportingAfter(
  context: Context,
  { verb, metricsFile }: AfterRun,
  work: () => Promise<number>,
): Promise<number> {
  if (metricsFile !== undefined) await refuseOwnPath(metricsFile, '--metrics-file', context.folder);
  const { webhook, command } = context.config.onFinish;
  if (metricsFile === undefined && webhook === null && command === null && !hasTraces()) return work();
  const startedAt = Date.now();
  const report = async (exitCode: number, reason: string | null) => {
    const ended = { verb, exitCode, startedAt, now: Date.now(), reason };
    await reportAll(context, metricsFile, describeFinished(await findThisRun(context, startedAt), ended));
  };
  let exitCode: number;
  try {
    exitCode = await work();
  } catch (error) {
    const isOurs = error instanceof LedgerlakeError;
    await report(isOurs ? error.exitCode : 1, error instanceof Error ? error.message : String(error));
    throw error;
  }
  await report(exitCode, null);
  return exitCode;
}

/** Whether traces go anywhere; the SDK is loaded only then. */
function hasTraces(): boolean {
  return (process.env.OTEL_EXPORTER_OTLP_ENDPOINT ?? '') !== '';
}

async function sendTrace(
  requests: string,
  finished: FinishedRun,
  warn: (message: string) => void,
): Promise<void> {
  try {
    const { exportTrace } = await import('../report/traces.ts');
    await exportTrace(requests, finished, warn);
  } catch (error) {
    const { name, code } = error as NodeJS.ErrnoException;
    warn(`OpenTelemetry: the trace was not sent (${code ?? name})`);
  }
}

/** The run of this process, as the logs have it; null where it did not begin. */
async function findThisRun({ folder }: Context, startedAt: number) {
  const [last] = await readRuns(folder, 1, Date.now()).catch(() => []);
  return last !== undefined && Date.parse(last.startedAt) >= startedAt ? last : null;
}

async function reportAll(
  { config, log, folder, jobsDir }: Context,
  file: string | undefined,
  finished: FinishedRun,
): Promise<void> {
  const warn = (message: string) => log.warn({}, message);
  if (file !== undefined) {
    const status = await readJobFiles(jobsDir)
      .then((files) => readStatus(folder, config, null, files))
      // Such as after a run that did not begin: the reason stands in its exit code.
      .catch(() => null);
    await writeMetrics(file, finished, status).catch((error: NodeJS.ErrnoException) =>
      warn(`--metrics-file: ${file} cannot be written (${error.code})`),
    );
  }
  const env = withoutKey(process.env, config.envFiles);
  await runFinishHooks(config.onFinish, finished, env, warn);
  if (hasTraces()) await sendTrace(folder.requests, finished, warn);
}
