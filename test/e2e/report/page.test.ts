import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { dataFolder } from '../../../src/data-folder.ts';
import { escapeHtml } from '../../../src/report/html.ts';
import { findRun, readReport, readReportedRuns } from '../../../src/report/read-report.ts';
import { renderRunPage } from '../../../src/report/run-page.ts';
import { renderRunsPage } from '../../../src/report/runs-page.ts';
import { findBrowser, openBrowser, type View } from '../../support/browser.ts';
import { skipWithout } from '../../support/needs.ts';
import { type Installation, openInstallation } from '../../support/nights.ts';
import { type Call, JsonText, RpcError, type Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const owners = ['Ann', 'Bea'].map(key);
const jobs = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${[...owners, key('Cat')].join(', ')}]}}
`,
  'jobs/list.yaml': `describe: test
method: getAssetsByGroup
params: {groupKey: collection, groupValue: ${key('Gem')}}
`,
};

/** Each does something where it is not escaped. */
const attacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  "'><iframe src=javascript:alert(4)>",
  '</style></title><script>alert(5)</script>',
  '<!--<link rel=stylesheet href=http://127.0.0.1:9/x.css>',
  '&lt;b&gt;',
];

const asset = (n: number, name: string) => ({
  id: key(`Jd${'abcdefghijk'[n]}`),
  interface: 'V1_NFT',
  content: { metadata: { name } },
  grouping: [{ group_key: 'collection', group_value: attacks[n] ?? key('Gem') }],
  ownership: { owner: attacks[n], ownership_model: 'single' },
  compression: { compressed: n % 2 === 0 },
  // Does not fit, so that it is quarantined with its text.
  supply: { print_max_supply: attacks[n] },
});

const most = '18446744073709551615';

/** @param renamed appended to every name */
const ledger =
  (slot: number, renamed: string): Script =>
  (call: Call) => {
    if (call.operation === 'getAssetsByGroup')
      return answerList(
        call,
        attacks.map((attack, n) => asset(n, attack + renamed)),
        { slot, pageSize: 1000 },
      );
    const { owner } = call.params;
    if (owner === key('Cat')) return new RpcError(-32602, attacks[1]!);
    const account = { address: key(`${owner.slice(0, 3)}x`), mint: attacks[0], owner, amount: 'most' };
    const text = JSON.stringify(answerList(call, [account], { slot, pageSize: 1000 }));
    return new JsonText(text.replace('"most"', most));
  };

interface Pages {
  run: string;
  runs: string;
}

async function makePages(place: Installation): Promise<Pages> {
  const folder = dataFolder(place.data);
  const config = await readConfig({ env: {}, cwd: join(place.data, '..'), needsKey: false });
  const all = await readReportedRuns(folder, 30);
  const files = { dir: join(place.data, '../jobs'), names: null, jobs: [] };
  const { signal } = new AbortController();
  const data = await readReport(folder, config, files, findRun(all, null), signal);
  return { run: renderRunPage(data), runs: renderRunsPage(all) };
}

async function openHostile(): Promise<Pages> {
  const place = await openInstallation(jobs);
  await place.night(ledger(100, ''));
  await place.night(ledger(200, ' 2'));
  return makePages(place);
}

let made: Promise<Pages> | null = null;
const getPages = () => {
  made ??= openHostile();
  return made;
};

test('escapes what an element or an attribute would obey', () => {
  expect(escapeHtml(`<a href="x" b='y'>&`)).toBe('&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;');
  expect(escapeHtml('a\u202eb\u0000c\u2028d')).toBe('a·b·c·d');
});

test('what the data says is text, and sums above 2^64 keep every digit', async () => {
  const { run, runs } = await getPages();
  for (const page of [run, runs]) {
    expect(page).not.toMatch(/<(script|img|iframe|link rel=styles|object)/i);
    expect(page.match(/<[a-z][^<>]*\s(src|href|action|on\w+)=/gi)).toEqual(['<link rel="icon" href=']);
  }
  // Only the numbers of the two accounts together are above it.
  expect(run).toContain('36,893,488,147,419,103,230');
  expect(run).toContain(
    'name: &lt;script&gt;alert(1)&lt;/script&gt; → &lt;script&gt;alert(1)&lt;/script&gt; 2',
  );
  expect(runs).toContain('1 target failed');
});

const views: (View & { name: string })[] = [390, 820, 1280].flatMap((width) =>
  [false, true].map((dark) => ({ name: `${width} ${dark ? 'dark' : 'light'}`, width, height: 900, dark })),
);

const browserPath = findBrowser();

test('in Chromium nothing runs, nothing is asked for, nothing sticks out, in both themes', async (context) => {
  skipWithout(context, 'chromium', browserPath !== null);
  const place = await openInstallation({});
  const browser = await openBrowser(browserPath!);
  onTestFinished(() => browser.close());
  const found = `({
      markup: document.querySelectorAll('script, img, iframe, object, embed, form, [onload], [onerror]').length,
      charts: document.querySelectorAll('figure svg').length,
      sticksOut: document.documentElement.scrollWidth - window.innerWidth,
      paper: getComputedStyle(document.body).backgroundColor,
      hasText: document.body.innerText.includes('<script>alert(1)</script>') || !document.title.includes('run 2'),
    })`;
  for (const [name, page] of Object.entries(await getPages())) {
    const file = join(place.data, `../${name}.html`);
    await writeFile(file, page);
    const url = pathToFileURL(file).href;
    for (const view of views) {
      const { requests, errors, dialogs, value } = await browser.look(url, view, found);
      expect({ requests, errors, dialogs, value }, `${name} ${view.name}`).toEqual({
        requests: [url, 'data:,'].slice(0, requests.length),
        ...{ errors: [], dialogs: 0 },
        value: {
          ...{ markup: 0, charts: expect.any(Number), sticksOut: expect.any(Number), hasText: true },
          paper: view.dark ? 'rgb(20, 23, 27)' : 'rgb(255, 255, 255)',
        },
      });
      const { charts, sticksOut } = value as { charts: number; sticksOut: number };
      expect(charts, `${name} ${view.name}`).toBeGreaterThan(3);
      expect(sticksOut, `${name} ${view.name}`).toBeLessThanOrEqual(0);
    }
  }
});
