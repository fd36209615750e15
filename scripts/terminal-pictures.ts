// Draws docs/pictures/pipeline.svg, and terminal-<columns>.svg from real runs: the built program on a pseudo-terminal of 40,
// 80 and 120 columns, a night each, against the sample API. test/fixtures/terminal keeps what the terminals showed.
// Needs the build and `script` (util-linux): npm run build && npx tsx scripts/terminal-pictures.ts
// With --kept it only draws what is kept.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '../src/sandbox/server.ts';
import { openTerminal } from '../test/support/terminal.ts';
import { renderPipeline } from './pipeline-svg.ts';
import { createTerminalScreen } from './terminal-screen.ts';
import { renderTerminals, type Transcript } from './terminal-svg.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const widths = [120, 80, 40];
const fileOf = (columns: number) => join(root, `test/fixtures/terminal/${columns}.json`);

if (!process.argv.includes('--kept')) {
  mkdirSync(join(root, 'test/fixtures/terminal'), { recursive: true });
  for (const transcript of await runNights())
    writeFileSync(fileOf(transcript.columns), `${JSON.stringify(transcript, null, 2)}\n`);
}
for (const columns of widths) {
  const transcript = JSON.parse(readFileSync(fileOf(columns), 'utf8')) as Transcript;
  writeFileSync(join(root, `docs/pictures/terminal-${columns}.svg`), renderTerminals(transcript));
}
writeFileSync(join(root, 'docs/pictures/pipeline.svg'), renderPipeline());

/** Runs a first night that is not drawn, then one for each width; the ledger moves between them. */
async function runNights(): Promise<Transcript[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerlake-pictures-'));
  const sandbox = await startSandbox({ assets: 6000, owners: 240, rps: 18, burst: 12, latencyMs: 90 });
  const truth = sandbox.world.truth();
  writeFiles(folder, {
    'ledgerlake.yaml': 'api:\n  limits: { das: { rps: 20 } }\nlake: { tables: [assets, token_accounts] }\n',
    'jobs/collections.yaml': `describe: Every asset of the collections
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${truth.collections().join(', ')}] } }
page_size: 50
`,
    'jobs/token-owners.yaml': `describe: Token accounts of the owners
method: getTokenAccounts
for_each: { owner: { file: owners.txt } }
`,
    'jobs/owners.txt': `${[...truth.owners()].slice(0, 160).join('\n')}\n`,
    'jobs/signatures.yaml': `describe: The newest compression signatures
method: getLatestCompressionSignatures
since: all
`,
  });
  const env = { LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' };
  const run = (columns: number) => openTerminal(['run'], { cwd: folder, env, columns });
  try {
    await run(80).ended;
    const transcripts: Transcript[] = [];
    for (const columns of widths) {
      sandbox.tick(20);
      const before = sandbox.requests.length;
      const terminal = run(columns);
      const look = () => lookAt(terminal.output(), columns);
      while (sandbox.requests.length < before + 240) await sleep(50);
      const during = look();
      const code = await terminal.ended;
      if (code !== 0) throw new Error(`a run ended with ${code}:\n${terminal.output()}`);
      transcripts.push({
        columns,
        screens: [
          { title: 'while it runs', lines: during },
          { title: 'when it is done', lines: look() },
        ],
      });
    }
    return transcripts;
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function lookAt(output: string, columns: number): string[] {
  const screen = createTerminalScreen(columns);
  screen.write(`$ ledgerlake run\r\n${output}`);
  return screen.lines();
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'jobs'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}
