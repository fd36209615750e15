import fc from 'fast-check';
import { expect, onTestFailed, test } from 'vitest';
import { readSeed } from '../../support/random.ts';
import { openScripted } from '../../support/workplace.ts';
import { freshAddress } from './ledger.ts';

const max = 2n ** 64n - 1n;
const owner = freshAddress('owner');
const job = `describe: test\nmethod: getCompressedTokenAccountsByOwner\nfor_each: {owner: {values: [${owner}]}}\n`;

/** A record whose three u64 are written as given. */
function recordText(n: number, amount: string, discriminator: string, lamports: string): string {
  return `{"account":{"hash":"${freshAddress(`${n}`)}","address":null,"data":{"discriminator":${discriminator},"data":"AA==","dataHash":"h"},"owner":"${owner}","lamports":${lamports},"tree":"t","leafIndex":${n},"seq":${n},"slotCreated":1},"tokenData":{"mint":"m","owner":"${owner}","amount":${amount},"delegate":null,"state":"initialized","tlv":null}}`;
}

test('amounts, discriminators and lamports from 0 to 2^64-1 are exact', async () => {
  const edges = [0n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 216_172_782_113_783_808n, max];
  const near = edges.flatMap((edge) => [edge - 1n, edge, edge + 1n]).filter((n) => n >= 0n && n <= max);
  const seed = readSeed();
  onTestFailed(() => console.error(`seed ${seed}`));
  const drawn = fc.sample(fc.bigInt({ min: 0n, max }), { numRuns: 3000, seed });
  const numbers = [...near, ...drawn];
  const at = (n: number) => String(numbers[n % numbers.length]);
  const perPage = 1000;
  const answer = (_method: string, { cursor = '0' }: { cursor?: string }) => {
    const from = Number(cursor);
    const page = numbers.slice(from, from + perPage);
    // Every other one as text, as some servers write them.
    const items = page.map((_, k) => {
      const n = from + k;
      const texts = [at(n), at(n + 1), at(n + 2)].map((text) => (n % 2 === 0 ? text : `"${text}"`));
      return recordText(n, texts[0] as string, texts[1] as string, texts[2] as string);
    });
    const next = page.length < perPage ? 'null' : `"${from + perPage}"`;
    return `{"context":{"slot":9},"value":{"items":[${items}],"cursor":${next}}}`;
  };
  const place = await openScripted(answer, { 'jobs/tokens.yaml': job });
  await place.mustRun();
  const rows = await place.rows(
    `select amount, discriminator, lamports
    from compressed_token_accounts join compressed_accounts using (hash) order by leaf_index`,
  );
  const expected = numbers.map((_, n) => ({ amount: at(n), discriminator: at(n + 1), lamports: at(n + 2) }));
  expect(rows).toEqual(expected);
  const [sum] = await place.rows<{ total: string }>(
    'select sum(amount)::hugeint as total from compressed_token_accounts',
  );
  expect(sum?.total).toBe(String(numbers.reduce((total, number) => total + number, 0n)));
});
