import { listOperations } from '../../src/operations/catalogue.ts';
import { type HttpRequest, openServer, reply } from './http-server.ts';

/** A request as the script sees it, whichever interface it came by. */
export interface Call {
  /** The catalogue's name of the operation. */
  operation: string;
  /** Of REST, the path's parameters, the query's (as text) and the body's. */
  // biome-ignore lint/suspicious/noExplicitAny: a script reads the parameters it expects
  params: any;
}

/** A reply that is not the usual envelope around a result: its whole body, and its status (default 200). */
export class RawReply {
  readonly body: string;
  readonly status: number;
  readonly type: string;

  constructor(body: string, status = 200, type = 'application/json') {
    this.body = body;
    this.status = status;
    this.type = type;
  }
}

/** What a script throws, or returns, for a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a script throws for parameters that the API does not take. */
export class InvalidParams extends RpcError {
  constructor(message: string) {
    super(-32602, message);
  }
}

/**
 * What the API answers: the result as a value, or as the JSON text in which it is to come, where numbers are above
 * 2^53 (`new JsonText(…)`); an RpcError; or a RawReply. JSON-RPC gets its envelope, REST the bare result.
 */
export type Script = (call: Call) => unknown;

/** A result in the text it is to come as. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An API of all three interfaces on loopback, whose answers the test sets before each night. */
export interface ScriptedApi {
  url: string;
  /** Every call since the script was set. */
  readonly calls: readonly Call[];
  setScript(script: Script): void;
  /** How far its clock is behind this process's, ms. Default: 0. */
  setClockBehind(ms: number): void;
  close(): Promise<void>;
}

/** @param sendsDate whether answers tell this process's time: no for programs in processes whose clocks the test moves */
export async function startScriptedApi({ sendsDate = true } = {}): Promise<ScriptedApi> {
  let script: Script = () => new RpcError(-32601, 'no script');
  let calls: Call[] = [];
  let slowMs = 0;
  const { url, close } = await openServer(async (request, response) => {
    const { id, ...call } = readCall(request);
    calls.push(call);
    const { status, type, body } = toReply(await runScript(script, call), id);
    const date = { date: new Date(Date.now() - slowMs).toUTCString() };
    reply(response, status, body, { 'content-type': type, ...(sendsDate && date) });
  });
  return {
    url,
    get calls() {
      return calls;
    },
    setClockBehind(ms) {
      slowMs = ms;
    },
    setScript(next) {
      script = next;
      calls = [];
    },
    close,
  };
}

async function runScript(script: Script, call: Call): Promise<unknown> {
  try {
    return await script(call);
  } catch (error) {
    if (error instanceof RpcError || error instanceof RawReply) return error;
    // The program would only see a connection that is gone.
    console.error(error);
    return new RawReply(`the script failed: ${error}`, 500, 'text/plain');
  }
}

/** @param id of a JSON-RPC request; undefined for REST */
function toReply(answer: unknown, id: unknown): RawReply {
  if (answer instanceof RawReply) return answer;
  const isRpc = id !== undefined;
  const envelope = (member: string) =>
    new RawReply(isRpc ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}` : `{${member}}`);
  if (answer instanceof RpcError) {
    const { code, message } = answer;
    return envelope(`"error":${JSON.stringify({ code, message })}`);
  }
  const text = answer instanceof JsonText ? answer.text : JSON.stringify(answer);
  return isRpc ? envelope(`"result":${text}`) : new RawReply(text);
}

/** The call that a request makes; `id` of JSON-RPC only. */
export function readCall(request: HttpRequest): Call & { id?: unknown } {
  const body = request.body === '' ? {} : JSON.parse(request.body);
  const url = new URL(request.url, 'http://x');
  if (url.pathname === '/') return { id: body.id, operation: body.method, params: body.params };
  for (const { name, rest } of listOperations()) {
    if (rest === undefined || rest.method !== request.method) continue;
    const pattern = new RegExp(`^${rest.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(decodeURIComponent(url.pathname));
    if (match === null) continue;
    const { 'api-key': _, ...query } = Object.fromEntries(url.searchParams);
    return { operation: name, params: { ...match.groups, ...query, ...body } };
  }
  throw new Error(`no operation has the path ${request.method} ${url.pathname}`);
}
