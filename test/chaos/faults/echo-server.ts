import type { ServerResponse } from 'node:http';
import { reply, startServer } from '../../support/http-server.ts';

/** How a hostile server gives a key back: writes an answer made of the honest one and the echo. */
export type EchoFault = (response: ServerResponse, honest: string, echo: string) => void;

/** Faults that pass: the same request asked again is answered. */
export const passingFaults: Record<string, EchoFault> = {
  'in a record': (response, honest, echo) =>
    reply(response, 200, honest.replace(/(:\s*\[\s*\{)/, `$1"note":"${echo}",`)),
  'in a name': (response, honest, echo) =>
    reply(response, 200, honest.replace(/(:\s*\[\s*\{)/, `$1"${echo}":1,`)),
  'in the envelope': (response, honest, echo) =>
    reply(response, 200, honest.replace('{', `{"note":"${echo}",`)),
  'in the cursor': (response, honest, echo) =>
    reply(response, 200, honest.replace(/"result":\s*\{/, `"result":{"cursor":"${echo}",`)),
  'in an error of a 200': (response, _, echo) =>
    reply(response, 200, `{"jsonrpc":"2.0","error":{"code":-32603,"message":"no luck with ${echo}"}}`),
  'in a 200 that is no JSON': (response, _, echo) => reply(response, 200, `no luck with ${echo}`),
  'in the text of a 500': (response, _, echo) => reply(response, 500, `no luck with ${echo}`),
  'in the JSON of a 500': (response, _, echo) => reply(response, 500, `{"error":"no luck with ${echo}"}`),
  'in the title of a 502': (response, _, echo) => reply(response, 502, `<html><title>${echo}</title></html>`),
  'in a 429': (response, _, echo) =>
    reply(response, 429, `{"message":"slow down, ${echo}"}`, { 'retry-after': '0' }),
  'in a redirect': (response, _, echo) =>
    reply(response, 307, '', { location: `http://127.0.0.1:9/?api-key=${echo}` }),
  'in headers': (response, honest, echo) =>
    reply(response, 200, honest, { 'x-key': echo, 'retry-after': echo, 'set-cookie': echo }),
};

/** Faults that end a request. */
export const finalFaults: Record<string, EchoFault> = {
  'in a 401': (response, _, echo) => reply(response, 401, `{"error":"the key ${echo} is wrong"}`),
  'in a 403': (response, _, echo) => reply(response, 403, `{"error":"${echo} may not"}`),
  'in a 400': (response, _, echo) =>
    reply(response, 400, `{"error":{"code":-32602,"message":"bad: ${echo}"}}`),
  'behind 60 KB of nothing': (response, _, echo) => reply(response, 400, `${' '.repeat(65_520)}${echo}`),
};

export interface EchoServer {
  url: string;
  /** Echoes still to be sent, one for each request that was not asked before; the others are answered. */
  pending: { fault: EchoFault; echo: string }[];
  /** Called before each answer. */
  onRequest: () => void;
  /** Forgets what was asked. */
  forget(): void;
}

/** Stands before an honest server and gives the key back; closed when the test ends. */
export async function startEchoServer(honestUrl: string): Promise<EchoServer> {
  const asked = new Set<string>();
  const started: EchoServer = {
    url: '',
    pending: [],
    onRequest: () => undefined,
    forget: () => asked.clear(),
  };
  const server = await startServer(async ({ method, url, headers, body }, response) => {
    started.onRequest();
    const name = `${method} ${url} ${body.replace(/"id":"[^"]*"/, '')}`;
    const answer = await fetch(`${honestUrl}${url}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': String(headers['x-api-key'] ?? '') },
      ...(body === '' ? {} : { body }),
    });
    const honest = await answer.text();
    const next = asked.has(name) ? undefined : started.pending.shift();
    asked.add(name);
    if (next === undefined) reply(response, answer.status, honest);
    else next.fault(response, honest, next.echo);
  });
  started.url = server.url;
  return started;
}
