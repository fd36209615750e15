// What no client can be faster than: the same requests as ledgerlake's, eight in flight on kept-alive connections,
// the whole body read; with `parse`, JSON.parse too. Nothing is checked and nothing is stored.
//   npx tsx bench/floor.ts <url> <http|parse> <operation> <file of targets>
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { targetParams } from './place.ts';

const [url, mode, operation, file] = process.argv.slice(2) as [string, 'http' | 'parse', string, string];
const targets = readFileSync(file, 'utf8').trim().split('\n');
// As many connections as ledgerlake uses of a server without a limit, and as many walks as it has under way.
const pool = new Pool(url, { connections: 8, pipelining: 1 });
const walks = 64;
let rows = 0;

/** The cursor stands in the first bytes, so the floor without JSON.parse need not look further. */
function readCursor(body: Buffer): string | undefined {
  if (mode === 'http') return /"cursor":"(\w+)"/.exec(body.toString('latin1', 0, 200))?.[1];
  const { result } = JSON.parse(body.toString());
  rows += (result.items ?? result.token_accounts).length;
  return result.cursor;
}

async function walk(target: string): Promise<void> {
  let cursor: string | undefined;
  do {
    const params = { ...targetParams(operation, target), limit: 1000, ...(cursor && { cursor }) };
    const answer = await pool.request({
      path: '/',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: '1', method: operation, params }),
    });
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    cursor = readCursor(Buffer.from(await answer.body.arrayBuffer()));
  } while (cursor !== undefined);
}

const started = performance.now();
const before = process.cpuUsage();
const waiting = targets.values();
await Promise.all(
  Array.from({ length: walks }, async () => {
    for (const target of waiting) await walk(target);
  }),
);
const { user, system } = process.cpuUsage(before);
await pool.close();
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, rows }));
