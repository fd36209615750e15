import { spawn } from 'node:child_process';
import { type FinishedRun, isFailure } from './finished-run.ts';

/** Who gets the summary of a run: `on_finish` of the config. */
export interface OnFinish {
  /** Gets the summary by POST. It may hold a secret, so only its origin is ever shown. */
  webhook: string | null;
  /** Gets the summary on stdin, from `sh -c`. */
  command: string | null;
  when: 'always' | 'failure';
}

const webhookMs = 10_000;
const commandMs = 60_000;

/**
 * Sends the summary of a run. A failure goes to `warn` and changes nothing else.
 * @param env what the command sees: without the key
 */
export async function runFinishHooks(
  { webhook, command, when }: OnFinish,
  finished: FinishedRun,
  env: NodeJS.ProcessEnv,
  warn: (message: string) => void,
): Promise<void> {
  if (when === 'failure' && !isFailure(finished)) return;
  const summary = `${JSON.stringify(finished)}\n`;
  const failures = [
    webhook === null
      ? null
      : post(webhook, summary).catch((error) => `on_finish.webhook: ${describeError(error)}`),
    command === null
      ? null
      : runCommand(command, summary, env).catch((error) => `on_finish.command: ${describeError(error)}`),
  ];
  for (const failure of await Promise.all(failures)) if (typeof failure === 'string') warn(failure);
}

/** Only a code, because the message of `fetch` may hold the URL. */
function describeError(error: unknown): string {
  if (error instanceof Failed) return error.message;
  const { name, cause } = error as Error & { cause?: { code?: string } };
  return name === 'TimeoutError'
    ? `no answer in ${webhookMs / 1000} s`
    : `not reached (${cause?.code ?? name})`;
}

class Failed extends Error {}

async function post(url: string, body: string): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'ledgerlake' },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(webhookMs),
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Failed(`${new URL(url).origin} answered ${answer.status}`);
}

/** What it prints goes to stderr: stdout is the run's result. */
function runCommand(command: string, stdin: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], {
      env,
      stdio: ['pipe', 2, 2],
      timeout: commandMs,
      killSignal: 'SIGKILL',
    });
    child.on('error', (error) =>
      reject(new Failed(`cannot be started (${(error as NodeJS.ErrnoException).code})`)),
    );
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Failed(code === null ? `ended by ${signal}` : `ended with ${code}`));
    });
    // The command need not read it.
    child.stdin?.on('error', () => undefined).end(stdin);
  });
}
