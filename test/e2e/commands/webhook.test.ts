import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reply, startServer } from '../../support/http-server.ts';
import { runProgram } from '../../support/program.ts';

const id = '6f1f3a52-0d1b-4c8e-8a57-0d2f4b6c8e77';

/** Enables a webhook whose record is this text; gives the exit code and what landed: its page line, its record. */
async function enable(record: string) {
  const { url } = await startServer((_, response) => reply(response, 200, record));
  const cwd = await mkdtemp(join(tmpdir(), 'ledgerlake-webhook-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const env = { LEDGERLAKE_WEBHOOK_URL: url, LEDGERLAKE_API_KEY: 'k-3f1d9c77' };
  const { code, stderr } = await runProgram(['webhook', 'enable', id], { cwd, env });
  const incoming = join(cwd, 'data/incoming');
  const [folder = ''] = await readdir(incoming).catch(() => []);
  const texts: Record<string, string> = {};
  for (const name of await readdir(join(incoming, folder)).catch(() => []))
    texts[name.replace(/^\d+\./, '')] = await readFile(join(incoming, folder, name), 'utf8');
  const [line = ''] = (texts['pages.ndjson'] ?? '').split('\n');
  return { code, stderr, page: JSON.parse(line), records: texts.ndjson };
}

test('a record lands on one line, in its own bytes', async () => {
  const { code, page, records } = await enable(
    `{"webhookID":"${id}",\r\n"active":true,"n":18446744073709551615}`,
  );
  expect({ code, setAside: page.set_aside, envelope: page.envelope }).toEqual({
    code: 0,
    setAside: 0,
    envelope: 'null',
  });
  expect(records).toContain(`"record":{"webhookID":"${id}",  "active":true,"n":18446744073709551615}`);
  expect(records?.split('\n')).toHaveLength(2);
});

test.each([
  ['lone-surrogate', '"\\ud800"'],
  ['too-deep', `${'['.repeat(250)}${']'.repeat(250)}`],
])('one that DuckDB could not read is set aside: %s', async (refusal, value) => {
  const { code, page, records } = await enable(`{"webhookID":"${id}","active":true,"x":${value}}`);
  expect({ code, setAside: page.set_aside }).toEqual({ code: 0, setAside: 1 });
  expect(JSON.parse(records ?? '')).toMatchObject({ record: null, refusal });
});
