import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reply, startServer } from '../../support/http-server.ts';
import { runProgram } from '../../support/program.ts';
import { writeFiles } from '../../support/project.ts';
import { openShortList } from '../../support/small-world.ts';

interface Received {
  path: string;
  body: string;
}

/** A server that answers every request with a status. */
async function startReceiver(status = 200): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const { url } = await startServer(({ url: path, body }, response) => {
    received.push({ path, body });
    reply(response, status, {});
  });
  return { url, received };
}

test('a run tells metrics, webhook, command and traces how it ended, without the key', async () => {
  const { place, env } = await openShortList();
  const { url, received } = await startReceiver();
  await writeFiles(place.root, {
    'ledgerlake.yaml': `on_finish:
  webhook: ${url}/hook/secret-part?token=hidden
  command: "cat > summary.json; env > env.txt; echo out of the command"
`,
  });
  const given = { ...env, LEDGERLAKE_API_KEY_FILE: '/nonexistent', OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const { code, stdout, stderr } = await runProgram(['run', '--metrics-file', 'night.prom', '--json'], {
    cwd: place.root,
    env: given,
  });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).exitCode).toBe(0);
  const read = (name: string) => readFile(join(place.root, name), 'utf8');
  const summary = JSON.parse(await read('summary.json'));
  expect(summary).toMatchObject({
    exit_code: 0,
    outcome: 'complete',
    verb: 'run',
    requests: 3,
    attention: [],
  });
  expect(summary.tables.assets.inserted).toBeGreaterThan(0);
  expect(summary.text).toMatch(
    /^ledgerlake run: complete, [\d.]+ s\n\d+ new, 0 changed, 0 gone; 3 requests, 30 credits$/,
  );
  const hook = received.find(({ path }) => path.startsWith('/hook'));
  expect(JSON.parse(hook!.body)).toEqual(summary);
  expect(await read('env.txt')).not.toMatch(/LEDGERLAKE_API_KEY/);
  const metrics = await read('night.prom');
  expect(metrics).toMatch(/^ledgerlake_job_complete_timestamp_seconds\{job="list"\} 1\d{9}/m);
  expect(metrics).toContain('ledgerlake_held_crawls{} 0\n');
  // No series of a table that the run did not touch.
  expect(metrics).not.toContain('table="token_accounts"');
  expect(metrics).toContain('ledgerlake_run_exit_code{verb="run"} 0\n');
  expect(metrics).toContain('ledgerlake_run_targets{job="list",state="complete"} 1\n');
  expect(metrics).toMatch(/^ledgerlake_run_rows\{table="assets",outcome="inserted"\} [1-9]\d*$/m);
  const spans = JSON.parse(received.find(({ path }) => path === '/v1/traces')!.body).resourceSpans;
  expect(JSON.stringify(received)).toContain('getAssetsByGroup');
  expect(spans.length).toBe(1);
  for (const text of [JSON.stringify(received), metrics, stdout, stderr])
    expect(text).not.toContain('/nonexistent');
  expect(stderr).not.toContain('hidden');
});

test('a failure there is reported and changes no exit code; a failed run is reported, too', async () => {
  const { place, env } = await openShortList();
  const { url, received } = await startReceiver(500);
  const config = (when: string) =>
    `on_finish: { webhook: "${url}/x?token=hidden", command: "exit 7", when: ${when} }\n`;
  await writeFiles(place.root, { 'ledgerlake.yaml': config('failure') });
  const fine = await runProgram(['run'], { cwd: place.root, env });
  expect(fine.code, fine.stderr).toBe(0);
  expect(received).toEqual([]);

  const wrong = { ...env, LEDGERLAKE_API_KEY: 'a-key-that-nobody-has' };
  const refused = await runProgram(['run', 'list', '--metrics-file', 'no/such/folder.prom'], {
    cwd: place.root,
    env: wrong,
  });
  expect(refused.code, refused.stderr).toBe(77);
  expect(refused.stderr).toContain(`on_finish.webhook: ${url} answered 500`);
  expect(refused.stderr).toContain('on_finish.command: ended with 7');
  expect(refused.stderr).toContain('--metrics-file: no/such/folder.prom cannot be written (ENOENT)');
  expect(refused.stderr).not.toContain('hidden');
  const summary = JSON.parse(received[0]!.body);
  expect(summary).toMatchObject({ exit_code: 77, outcome: 'the API refused the key' });
  expect(summary.attention.length).toBe(1);
  expect(JSON.stringify(received)).not.toContain('a-key-that-nobody-has');
});
