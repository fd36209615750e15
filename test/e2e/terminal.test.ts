import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { createTerminalScreen } from '../../scripts/terminal-screen.ts';
import { replyResult, startServer } from '../support/http-server.ts';
import { skipWithout } from '../support/needs.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf, makeProject, writeFiles } from '../support/project.ts';
import { exportOnly, openTinyWorld, writeListJob } from '../support/small-world.ts';
import { hasTerminals, openTerminal, type Terminal } from '../support/terminal.ts';

/** What it shows now. */
const look = (terminal: Terminal, columns = 80) => {
  const screen = createTerminalScreen(columns);
  screen.write(terminal.output());
  return screen.lines();
};

const until = async (terminal: Terminal, isSo: () => boolean) => {
  const latest = Date.now() + 200_000;
  while (!isSo()) {
    if (Date.now() > latest) throw new Error(`it never came:\n${look(terminal).join('\n')}`);
    await sleep(10);
  }
};

test('on a terminal whose window becomes narrower the lines keep to it', async (context) => {
  skipWithout(context, 'script', hasTerminals);
  const { sandbox, place } = await openTinyWorld({ latencyMs: 150 });
  await writeListJob(place, sandbox, 20);
  const terminal = openTerminal(['run'], { cwd: place.root, env: environmentOf(sandbox), columns: 100 });
  // Before the first answer there is no rate.
  await until(terminal, () =>
    look(terminal, 100).some((line) => /^list .* of 5,000\/s .* record/.test(line)),
  );
  const wide = look(terminal, 100);
  terminal.resize(40);
  const before = terminal.output().length;
  expect(await terminal.ended).toBe(0);
  expect(wide.find((line) => line.startsWith('list'))).toMatch(
    /^list {2}[█░]{12} {2}\d\/3 .*[\d.]+ of 5,000\/s {2}\d+ credits {2}\d+ records?$/,
  );
  // Frames that were drawn since; the first may have been under way.
  const drawn = terminal.output().slice(before).split('\u001b[J').slice(2);
  const lines = drawn.flatMap((frame) => frame.split('run 20')[0]!.split('\r\n'));
  expect(lines.filter((line) => stringWidth(line) >= 40)).toEqual([]);
  const end = look(terminal, 100).join('\n');
  expect(end).toMatch(/^list {2}█{6} {2}3\/3 {2}done/m);
  // Log lines are words, too, and the report is broken between words.
  expect(end).not.toContain('{"level"');
  expect(end).toMatch(/\nrun 20\S+: \d+\n {2}requests, /);
});

/** An API that keeps every request waiting until it is told to answer. */
async function startWaiting() {
  let waiting: (() => void)[] = [];
  const { url } = await startServer((request, response) => {
    const result = { total: 0, limit: 10, page: 1, last_indexed_slot: 300_000_000, items: [] };
    waiting.push(() => replyResult(response, request, result));
  });
  return {
    url,
    waiting: () => waiting.length,
    answer(count: number) {
      for (const answer of waiting.slice(0, count)) answer();
      waiting = waiting.slice(count);
    },
  };
}

/** A run of 40 targets on a terminal, with seven requests in flight at a server that does not answer them. */
async function openStuckRun() {
  const api = await startWaiting();
  const place = await makeProject();
  await exportOnly(place, 'webhooks');
  await writeFiles(place.root, {
    'ledgerlake.yaml':
      'api: { limits: { das: { rps: 1000, concurrency: 7 } } }\nlake: { tables: [webhooks] }\n',
  });
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopq';
  const targets = [...letters].map((letter) => '1'.repeat(31) + letter);
  await writeFiles(place.jobs, {
    'list.yaml': `
describe: Collections that have nothing
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${targets.join(', ')}] } }
`,
  });
  const terminal = openTerminal(['run'], { cwd: place.root, env: environmentOf(api), columns: 80 });
  // The first one goes alone.
  await until(terminal, () => api.waiting() === 1);
  api.answer(1);
  await until(terminal, () => api.waiting() === 7);
  return { api, place, terminal };
}

test('Ctrl-C: says how many requests are in flight, lets them land, ends with 75', async (context) => {
  skipWithout(context, 'script', hasTerminals);
  const { api, place, terminal } = await openStuckRun();
  // Another terminal sees the same, some seconds late.
  const status = async () =>
    (await runProgram(['status'], { cwd: place.root, env: environmentOf(api) })).stdout;
  const seen =
    /\nrunning now: \S+, for [^\n]+\n {2}list: 1 of 40 targets, 0 records in 1 page, 10 credits, [\d.]+ of 1,000\/s\n/;
  while (!seen.test(await status())) await sleep(100);
  terminal.type('\u0003');
  await until(terminal, () => look(terminal).at(-1) === 'stopping, 7 requests in flight');
  api.answer(4);
  await until(terminal, () => look(terminal).at(-1) === 'stopping, 3 requests in flight');
  api.answer(3);
  expect(await terminal.ended).toBe(75);
  // Nothing was asked after it.
  expect(api.waiting()).toBe(0);
  const end = look(terminal).join('\n');
  expect(end).toMatch(/^list {2}[█░]{12} {2}8\/40 {2}stopped {2}80 credits {2}0 records$/m);
  expect(end).toMatch(
    /\nledgerlake: stopped early: stopped by SIGINT\n {2}Run the same command again: [^\n]+$/,
  );
  expect(end).not.toContain('in flight');
  const runs = (await readFile(join(place.data, 'runs.ndjson'), 'utf8')).trimEnd().split('\n');
  expect(runs.at(-1)).toContain('"exit_code":75,"stopped_by":"stopped by SIGINT"');

  // The next run shows where that stands from its first lines on.
  const next = openTerminal(['run'], { cwd: place.root, env: environmentOf(api), columns: 80 });
  await until(next, () => api.waiting() === 1);
  await until(next, () => look(next).some((line) => /^list {2}██░{10} {2}8\/40 /.test(line)));
  next.type('\u0003');
  await until(next, () => look(next).at(-1) === 'stopping, 1 request in flight');
  next.type('\u0003');
  expect(await next.ended).toBe(75);
  expect(look(next).join('\n')).toMatch(
    /\nledgerlake: stopped (early: stopped )?by SIGINT\n {2}Run the same command again: [^\n]+$/,
  );
});
