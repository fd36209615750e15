import type { Sandbox } from '../../../src/sandbox/server.ts';

/** The parts of a JSON-RPC answer the tests look at. */
export interface RpcAnswer {
  id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, on purpose
  result?: any;
  error?: { code: number; message: string };
}

/** Posts one request, with the default key unless another is given; null sends none. */
export function post(sandbox: Sandbox, body: unknown, key: string | null = 'sandbox'): Promise<Response> {
  const query = key === null ? '' : `?api-key=${encodeURIComponent(key)}`;
  return fetch(`${sandbox.url}/${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** One call as text, so that numbers can be compared exactly. */
export async function callText(sandbox: Sandbox, method: string, params: unknown): Promise<string> {
  return (await post(sandbox, { jsonrpc: '2.0', id: '1', method, params })).text();
}

export async function call(sandbox: Sandbox, method: string, params: unknown): Promise<RpcAnswer> {
  return JSON.parse(await callText(sandbox, method, params)) as RpcAnswer;
}

/** Follows `cursor` until a page has none; returns the answers with rows. */
export async function walk(
  sandbox: Sandbox,
  method: string,
  params: object,
  // biome-ignore lint/suspicious/noExplicitAny: see RpcAnswer
  onPage: (result: any) => void,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const { result, error } = await call(
      sandbox,
      method,
      cursor === undefined ? params : { ...params, cursor },
    );
    if (error !== undefined) throw new Error(error.message);
    onPage(result);
    cursor = (result.cursor ?? result.value?.cursor ?? undefined) as string | undefined;
  } while (cursor !== undefined);
}
