import { at, parseExact, textOf } from '../../e2e/exact-json.ts';
import { type Act, answerBytes, type Visit, whole } from './proxy.ts';

/** Where a fault strikes. */
export interface Moment {
  /** The request that is answered so; for what comes unasked, the last one that was answered. */
  visit: Visit;
  /** Parameters of the page, or slice, before it; its own where it is the first. */
  before: Record<string, unknown>;
  /** Counts from 0 with every strike, from a number of the seed's: a fault of several forms takes them in turn. */
  form: number;
  /** False: it stays to the end of the run. */
  passes: boolean;
}

export interface Fault {
  name: string;
  /** How a run may end that meets it once: with 0 where asking again helps, else with the code that says why not. */
  once: readonly number[];
  /** It goes on for a while after the request it strikes: where that has one attempt left, it may take that too. */
  lasts?: true;
  /** Only a deadline ends it: the run has a short one. */
  timesOut?: true;
  act(moment: Moment): Act | Promise<Act>;
}

/** Everything the network and the server behind it may do to one answer (28). */
export const faults: readonly Fault[] = [
  {
    name: 'connection refused',
    once: [0],
    lasts: true,
    act: ({ passes }) => ({ bytes: '', after: 'refuse', ...(passes ? { reopenAfterMs: 100 } : {}) }),
  },
  {
    name: 'reset before or amid the headers',
    once: [0],
    act: ({ form }) => ({ bytes: ['', 'HTTP/1.1 200 OK\r\ncontent-ty'][form % 2]!, after: 'reset' }),
  },
  {
    name: 'reset amid the body',
    once: [0],
    act: async ({ visit }) => ({ bytes: half(whole(await visit.fetchAnswer()).bytes), after: 'reset' }),
  },
  {
    name: 'cut chunk',
    once: [0],
    act: async ({ visit }) => {
      const body = await visit.fetchAnswer();
      const size = Buffer.byteLength(body).toString(16);
      return { bytes: `${chunkedHead}${size}\r\n${half(body)}`, after: 'end' };
    },
  },
  {
    name: 'wrong content-length',
    once: [0],
    act: async ({ visit, form }) => {
      const body = await visit.fetchAnswer();
      const length = Buffer.byteLength(body) + [7, -7][form % 2]!;
      return { bytes: answerBytes(200, body, { 'content-length': `${length}` }), after: 'end' };
    },
  },
  {
    name: 'drip',
    once: [0],
    timesOut: true,
    act: () => ({ bytes: answerBytes(200, '', { 'content-length': '1000000' }), after: 'drip' }),
  },
  { name: 'stall', once: [0], timesOut: true, act: () => ({ bytes: '', after: 'hang' }) },
  refusal('401', [77], 401, { code: -32401, message: 'invalid api key' }),
  refusal('403', [3], 403, { code: -32403, message: 'not in your plan' }),
  refusal('408', [0], 408, { code: -32000, message: 'request timeout' }),
  throttle('429', [0], () => null),
  throttle('429, Retry-After in seconds', [0], () => '1'),
  throttle('429, Retry-After as a date', [0], () => new Date(Date.now() + 1000).toUTCString()),
  throttle('429, Retry-After: 0, -1 or junk', [0], (form) => ['0', '-1', 'soon; really'][form % 3]!),
  throttle('429, Retry-After: 1000000000', [69], () => '1000000000'),
  refusal('500', [0], 500, { code: -32603, message: 'Internal error' }),
  { name: '502 HTML', once: [0], act: () => page(502, '<html><title>Bad Gateway</title></html>') },
  { name: '503', once: [0], act: () => page(503, 'Service Unavailable') },
  { name: '504', once: [0], act: () => page(504, '<html><title>Gateway Timeout</title></html>') },
  refusal('200 with a JSON-RPC error', [0], 200, { code: -32000, message: 'database connection lost' }),
  { name: '200 with HTML', once: [0], act: () => page(200, '<html><title>Welcome</title></html>') },
  { name: 'cut JSON', once: [0], act: async ({ visit }) => whole(half(await visit.fetchAnswer())) },
  {
    name: 'wrong id',
    once: [0],
    act: async ({ visit, before }) =>
      whole(replaceMember(await visit.fetchAnswer(before), 'id', '"of-somebody-else"')),
  },
  {
    // A list without its envelope has no slot and no cursor; of a batch it is what the spec shows, and an answer:
    // where it comes unasked, and is taken for one to a batch, the audit sees that it has not what was asked for.
    name: 'bare array',
    once: [0, 4],
    act: async ({ visit }) => whole(readRecords(await visit.fetchAnswer())),
  },
  {
    // The records of the page before; a first page has every record twice, and that does no harm.
    name: 'duplicated page',
    once: [0, 3, 4],
    act: async ({ visit, before }) => {
      const own = await visit.fetchAnswer();
      const records = readRecords(own);
      const isFirst = JSON.stringify(before) === JSON.stringify(visit.params);
      const others = isFirst ? twice(records) : readRecords(await visit.fetchAnswer(before));
      return whole(own.replace(records, () => others));
    },
  },
  {
    // Content stands still, so an older slot is all that a replica behind would say otherwise.
    name: 'older slot',
    once: [0],
    act: async ({ visit }) => {
      const body = await visit.fetchAnswer();
      const slots = /("(?:last_indexed_slot|slot)"\s*:\s*)(\d{9,})/g;
      return whole(body.replace(slots, (_, member, slot) => `${member}${Number(slot) - 1000}`));
    },
  },
  {
    // A cursor that the API refuses when it comes back; an answer without one is the refusal itself.
    name: 'bad cursor',
    once: [0, 3],
    act: async ({ visit }) => {
      const body = await visit.fetchAnswer();
      const error = { code: -32000, message: 'Cursor Validation Err: the cursor is invalid' };
      return readCursor(body) === null
        ? refuse(200, visit.id, error)
        : whole(replaceMember(body, 'cursor', '"!"'));
    },
  },
  {
    // The cursor it was asked with: it leads to the same page again. A first page, which has none, is given itself.
    name: 'cursor loop',
    once: [0, 3],
    act: async ({ visit }) => {
      const body = await visit.fetchAnswer();
      const cursor = JSON.stringify(visit.params.cursor ?? loopToStart);
      return whole(
        readCursor(body) === null
          ? body.replace(/("result":\s*\{)/, (opening) => `${opening}"cursor":${cursor},`)
          : replaceMember(body, 'cursor', cursor),
      );
    },
  },
];

/** The cursor that stands for "from the start" in a loop. */
export const loopToStart = 'from-the-start';

const chunkedHead = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';

type RpcFailure = { code: number; message: string };

function refusal(name: string, once: Fault['once'], status: number, error: RpcFailure): Fault {
  return { name, once, act: ({ visit }) => refuse(status, visit.id, error) };
}

function throttle(name: string, once: Fault['once'], retryAfter: (form: number) => string | null): Fault {
  const body = (id: unknown) => rpcError(id, { code: -32429, message: 'rate limited' });
  return {
    name,
    once,
    act({ visit, form }) {
      const value = retryAfter(form);
      const headers: Record<string, string> = value === null ? {} : { 'retry-after': value };
      return { bytes: answerBytes(429, body(visit.id), headers), after: 'keep' };
    },
  };
}

function refuse(status: number, id: unknown, error: RpcFailure): Act {
  return { bytes: answerBytes(status, rpcError(id, error)), after: 'keep' };
}

function rpcError(id: unknown, error: RpcFailure): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

function page(status: number, text: string): Act {
  return { bytes: answerBytes(status, text, { 'content-type': 'text/html' }), after: 'keep' };
}

function half(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}

/** The array of records, in its own text: a number that passed through JSON.parse would be another one. */
function readRecords(body: string): string {
  const result = at(parseExact(body), 'result');
  for (const path of [[], ['items'], ['value', 'items']]) {
    const records = at(result, ...path);
    if (Array.isArray(records)) return textOf(records);
  }
  throw new Error(`no records in ${body.slice(0, 200)}`);
}

/** A page's text with every record twice; an empty one stays as it is. */
function twice(records: string): string {
  const inner = records.slice(1, -1).trim();
  return inner === '' ? records : `[${inner},${inner}]`;
}

function readCursor(body: string): string | null {
  const { result } = JSON.parse(body) as { result: { cursor?: string | null } | null };
  return result?.cursor ?? null;
}

/** Replaces the value of a member that stands before the records, and has a string. */
function replaceMember(body: string, member: string, value: string): string {
  return body.replace(new RegExp(`("${member}":)"[^"]*"`), (_, name) => `${name}${value}`);
}
