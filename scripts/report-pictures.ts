// Draws the pictures of `ledgerlake report` in docs/: four nights against the sample API, opened in Chromium at three
// widths. Needs the build and a Chromium: npm run build && npx tsx scripts/report-pictures.ts
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { startSandbox } from '../src/sandbox/server.ts';
import { findBrowser, openBrowser } from '../test/support/browser.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pictures = [
  { name: 'report-phone', page: 'report', width: 390, height: 844, dark: false },
  { name: 'report-tablet', page: 'report', width: 820, height: 1000, dark: true },
  { name: 'report-wide', page: 'report', width: 1280, height: 1000, dark: false },
  { name: 'report-runs', page: 'runs', width: 1280, height: 820, dark: true },
];

const browserPath = findBrowser();
if (browserPath === null) throw new Error('there is no Chromium: apt-get install chromium');
const folder = mkdtempSync(join(tmpdir(), 'ledgerlake-pictures-'));
const sandbox = await startSandbox({ assets: 6000, owners: 240, rps: 40, latencyMs: 20 });
const jobs = {
  collections: `describe: Every asset of the collections
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${sandbox.world.truth().collections().join(', ')}] } }
page_size: 50
`,
  tokens: `describe: Token accounts of the owners
method: getTokenAccounts
after: [collections]
for_each: { owner: { sql: "select distinct owner from assets where owner is not null order by owner limit 150" } }
`,
  signatures: `describe: The newest compression signatures
method: getLatestCompressionSignatures
since: all
`,
};
const browser = await openBrowser(browserPath);
try {
  await makeNights();
  for (const page of ['report', 'runs']) {
    const args = page === 'runs' ? ['--last', '30'] : [];
    await run('report', ...args, '--output', `${page}.html`);
  }
  mkdirSync(join(root, 'docs/pictures'), { recursive: true });
  for (const { name, page, ...view } of pictures) {
    const url = pathToFileURL(join(folder, `${page}.html`)).href;
    const { png } = await browser.look(url, view, '0');
    writeFileSync(join(root, `docs/pictures/${name}.png`), png);
    console.log(`docs/pictures/${name}.png: ${Math.ceil(png.length / 1000)} kB`);
  }
} finally {
  await browser.close();
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs the program as a process of its own, because this one is its API. */
function run(...args: readonly string[]): Promise<void> {
  const env = { PATH: process.env.PATH, LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' };
  const line = [join(root, 'dist/cli.js'), ...args];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, line, { cwd: folder, env }, (error, _, stderr) =>
      error === null || [3, 4].includes(Number(error.code)) ? resolve() : reject(new Error(stderr)),
    );
  });
}

/** Runs four nights; the ledger moves between them. */
async function makeNights(): Promise<void> {
  const config =
    'api:\n  limits: { das: { rps: 45 } }\n  monthly_credits: 40000\nlake: { tables: [webhooks] }\n';
  writeFileSync(join(folder, 'ledgerlake.yaml'), config);
  mkdirSync(join(folder, 'jobs'));
  for (const [name, text] of Object.entries(jobs)) writeFileSync(join(folder, `jobs/${name}.yaml`), text);
  for (let night = 0; night < 4; night += 1) {
    if (night > 0) sandbox.tick(20);
    await run('run');
  }
}
