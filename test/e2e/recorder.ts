import { openServer, reply } from '../support/http-server.ts';

/** One answer as it went over the wire. */
export interface Exchange {
  method: string;
  /** The answer's text, not compressed. */
  body: string;
}

/** A server that forwards requests to an API and keeps every answer's text. */
export interface Recorder {
  url: string;
  /** Oldest first. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

export async function startRecorder(target: string): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const { url, close } = await openServer(async (request, response) => {
    const answer = await fetch(`${target}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: request.body,
    });
    const body = await answer.text();
    exchanges.push({ method: (JSON.parse(request.body) as { method: string }).method, body });
    reply(response, answer.status, body);
  });
  return { url, exchanges, close };
}
