// The API of the benchmark, in a process of its own: pages made before they are timed, kept in memory, sent with their
// length over kept-alive connections. It does nothing else, so what is measured is who asks.
//   npx tsx bench/server.ts < targets.json (a list of Target); prints its URL
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createTemplates, renderRecords, type Target } from './records.ts';

/** What was asked since the last look. */
export interface Counts {
  requests: number;
  bytes: number;
}

interface Question {
  id: unknown;
  params: { groupValue?: string; mint?: string; cursor?: string; page?: number; limit: number };
}

/** Bytes of pages kept; the oldest go first. Two sets of a million assets fit. */
const cacheBytes = 5e9;

const targets = new Map(((await json(process.stdin)) as Target[]).map((target) => [target.name, target]));
const templates = createTemplates();
const pages = new Map<string, Buffer>();
let kept = 0;
let slot = 300_000_000;
/** Nights in which one record in a hundred got another owner. */
let changes = 0;
let counts: Counts = { requests: 0, bytes: 0 };

function readPage(target: Target, page: number, limit: number): Buffer {
  const key = `${target.name}/${limit}/${page}/${changes}`;
  const known = pages.get(key);
  if (known !== undefined) return known;
  const from = Math.min(page * limit, target.records);
  const to = Math.min(from + limit, target.records);
  const made = renderRecords(templates[target.kind], target, from, to, changes);
  pages.set(key, made);
  kept += made.length;
  for (const [oldest, bytes] of pages) {
    if (kept <= cacheBytes) break;
    pages.delete(oldest);
    kept -= bytes.length;
  }
  return made;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, params } = (await json(request)) as Question;
  const target = targets.get(params.groupValue ?? params.mint ?? '');
  if (target === undefined) throw new Error('no such target');
  // The SDK's users walk by page number, ledgerlake by cursor: page and cursor n are the same records.
  const page = params.page === undefined ? Number(params.cursor ?? 0) : params.page - 1;
  const records = readPage(target, page, params.limit);
  const size = Math.max(0, Math.min(params.limit, target.records - page * params.limit));
  const cursor = size === 0 || params.page !== undefined ? '' : `"cursor":"${page + 1}",`;
  const list = target.kind === 'asset' ? 'items' : 'token_accounts';
  const head = Buffer.from(
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"last_indexed_slot":${slot},"total":${size},` +
      `"limit":${params.limit},${cursor}"${list}":[`,
  );
  const tail = Buffer.from(']}}');
  const length = head.length + records.length + tail.length;
  counts = { requests: counts.requests + 1, bytes: counts.bytes + length };
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  response.cork();
  response.write(head);
  response.write(records);
  response.end(tail);
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.url === '/_bench/counts') {
    response.end(JSON.stringify(counts));
    counts = { requests: 0, bytes: 0 };
  } else if (request.url === '/_bench/night' || request.url === '/_bench/night?changed') {
    // The ledger has moved on, and none of these records has, or one in a hundred. No more slots than a run believes
    // of the seconds that passed (`src/crawl/slot-ceiling.ts`).
    slot += 50_000;
    if (request.url.endsWith('changed')) changes += 1;
    response.end();
  } else {
    answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
