import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { reportingAfter } from '../../../src/commands/after-run.ts';
import type { Context } from '../../../src/commands/context.ts';
import { dataFolder } from '../../../src/data-folder.ts';
import { UsageError } from '../../../src/errors.ts';

vi.mock('../../../src/report/traces.ts', () => {
  throw Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' });
});

test('an SDK of traces that cannot be loaded is said, and changes neither the exit code nor what is thrown', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const said: string[] = [];
  const context = {
    config: { onFinish: { webhook: null, command: null, when: 'always' }, envFiles: [] },
    folder: dataFolder(join(tmpdir(), 'ledgerlake-no-such-folder')),
    log: pino({ level: 'warn' }, { write: (line: string) => void said.push(line) }),
  } as unknown as Context;
  const after = { verb: 'run', metricsFile: undefined };
  expect(await reportingAfter(context, after, async () => 3)).toBe(3);
  const failure = new UsageError('wrong', 'Right it.');
  await expect(reportingAfter(context, after, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(said.length).toBe(2);
  for (const line of said) expect(line).toContain('OpenTelemetry: the trace was not sent');
});
