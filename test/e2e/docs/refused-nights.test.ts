import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusalLines } from '../../../src/commands/run-report.ts';
import { readText, root } from '../../support/documents.ts';
import { openInstallation } from '../../support/nights.ts';
import type { Script } from '../../support/scripted-api.ts';
import { jobs, ledger } from '../../support/three-owners.ts';

const page = 'docs/how-to.md';
const generated = /(?<=<!-- generated: refused nights -->\n)[\s\S]*?(?=<!-- end -->)/;

const nights: { what: string; script: Script }[] = [
  { what: 'every list comes empty', script: ledger(200, () => null) },
  {
    what: 'the API calls `amount` something else',
    script: ledger(300, ({ amount, ...rest }) => ({ ...rest, tokenAmount: amount })),
  },
  { what: 'no record has its address', script: ledger(400, (account) => ({ ...account, address: null })) },
  {
    what: 'the source is restored from last week',
    script: ledger(50, (account) => ({ ...account, frozen: true })),
  },
];

test('a refused night looks as the how-to shows it: WRITE_NIGHTS=1 writes it', async () => {
  const place = await openInstallation(jobs);
  await place.night(ledger(100));
  let text = '';
  for (const { what, script } of nights) {
    const { code, report } = await place.night(script);
    const lines = refusalLines(report?.published.refused ?? [], { root: 'data' }).join('\n');
    text += `\nA night in which ${what} (exit ${code}):\n\n\`\`\`console\n${lines}\n\`\`\`\n`;
  }
  if (process.env.WRITE_NIGHTS === '1')
    writeFileSync(join(root, page), readText(page).replace(generated, `${text}\n`));
  expect(withoutIds(generated.exec(readText(page))?.[0] ?? '')).toBe(withoutIds(text));
});

/** A refusal's id is made of crawl ids too, which differ from night to night. */
function withoutIds(text: string): string {
  return text.trim().replace(/(?<=--accept )r[0-9a-f]{8}/g, 'r<id>');
}
