import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { firstOf } from '../../levels.ts';
import { readText, root } from '../../support/documents.ts';
import { openShell } from './shell.ts';
import { listSteps, type Shown, showsOutput } from './transcripts.ts';

/** The sample ledger of `make demo` and of the tutorial. */
const demo = { assets: 1200, owners: 100 };

/**
 * Documents whose `sh` blocks are run, from the top; outputs are compared, but for the how-to. `shown`: how many there are.
 */
const documents = [
  { path: 'README.md', shown: 5, ledger: demo },
  { path: 'docs/tutorial.md', shown: 13, ledger: demo },
  { path: 'docs/what-a-night-costs.md', shown: 3, ledger: demo },
  { path: 'docs/how-to.md', shown: 0, ledger: { assets: 240, owners: 24 } },
];

test.each(firstOf(1, documents))(
  'the commands of $path do what it shows',
  async ({ path, shown, ledger }) => {
    const sandbox = await startSandbox(ledger);
    const shell = await openShell({ LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' });
    let compared = 0;
    const wrong: { commands: string; shown: Shown; printed: string }[] = [];
    try {
      for (const { commands, outputs } of listSteps(path)) {
        const { code, stdout, stderr } = await shell.run(commands);
        expect(code, `${path}:\n${commands}\n${stdout}\n${stderr}`).toBe(0);
        if (shown > 0 && commands.includes('ledgerlake sql'))
          expect(countLines(stdout), commands).toBeGreaterThan(1);
        for (const output of shown === 0 ? [] : outputs) {
          compared += 1;
          if (!showsOutput(output.text, stdout)) wrong.push({ commands, shown: output, printed: stdout });
        }
      }
    } finally {
      await shell.remove();
      await sandbox.close();
    }
    if (process.env.WRITE_TRANSCRIPTS === '1') writeOutputs(path, wrong);
    expect(wrong, 'WRITE_TRANSCRIPTS=1 writes what is printed now').toEqual([]);
    expect(compared).toBe(shown);
  },
);

test('an output is what a block shows but for times, durations, sizes, paths and retries', () => {
  const printed = 'run 20261123T082253859Z-f11fac: 7 requests, 70 credits, 24 s\n  assets: 12 new\nlast\n';
  expect(
    showsOutput('run 20250101T000000000Z-000000: 9 requests, 90 credits, 1.5 s\n…\nlast\n', printed),
  ).toBe(true);
  expect(showsOutput('…\n  assets: 12 new\n…\n', printed)).toBe(true);
  expect(showsOutput('…\n  assets: 13 new\n…\n', printed)).toBe(false);
  expect(showsOutput('…\n  assets: 12 new\n', printed)).toBe(false);
});

/** Puts what was printed into a document, but where lines are left out: these are for a person to choose. */
function writeOutputs(path: string, wrong: readonly { shown: Shown; printed: string }[]): void {
  let text = readText(path);
  for (const { shown, printed } of wrong.toReversed()) {
    if (/^…$/m.test(shown.text)) continue;
    text = `${text.slice(0, shown.from)}${printed.trim()}\n${text.slice(shown.from + shown.text.length)}`;
  }
  writeFileSync(join(root, path), text);
}

/** Lines of rows, and the head. */
function countLines(stdout: string): number {
  return stdout.split('\n').filter((line) => line !== '').length;
}
