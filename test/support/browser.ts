import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a page is looked at. */
export interface View {
  width: number;
  height: number;
  dark: boolean;
}

/** What a page did, and how it looks. */
export interface Looked {
  /** URLs of everything the page asked for, itself first. */
  requests: string[];
  /** Errors and exceptions of the console. */
  errors: string[];
  /** Alerts and other dialogs it opened. */
  dialogs: number;
  /** What `expression` gave. */
  value: unknown;
  png: Buffer;
}

export interface Browser {
  /** Opens a file, evaluates an expression in it, and takes a picture of what the window shows. */
  look(url: string, view: View, expression: string): Promise<Looked>;
  close(): Promise<void>;
}

/** Debian's Chromium, or another one in the PATH; null where there is none. */
export function findBrowser(): string | null {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const folders = (process.env.PATH ?? '').split(':');
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

interface Message {
  id?: number;
  method?: string;
  sessionId?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's own shapes
  params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol's own shapes
  result?: any;
  error?: { message: string };
}

/** Starts a browser without a window, spoken to in the DevTools protocol over two pipes. */
export async function openBrowser(path: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'ledgerlake-browser-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run'];
  // Its shared memory would be /dev/shm, which is small in containers and where other tests have their folders.
  flags.push('--disable-dev-shm-usage');
  const child = spawn(path, [...flags, `--user-data-dir=${profile}`, '--remote-debugging-pipe'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const pipes = speak(child);
  return {
    look: (url, view, expression) => look(pipes, url, view, expression),
    async close() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      await Promise.race([pipes.send('Browser.close').catch(() => undefined), sleep(2000)]);
      await Promise.race([ended, sleep(3000)]);
      child.kill('SIGKILL');
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Pipes {
  send(method: string, params?: object, sessionId?: string): Promise<NonNullable<Message['result']>>;
  /** Called with every event until the returned function is. */
  listen(onEvent: (message: Message) => void): () => void;
}

/** Messages are JSON, each ended by a zero byte. */
function speak(child: ChildProcess): Pipes {
  const [, , , to, from] = child.stdio as unknown as [unknown, unknown, unknown, Writable, Readable];
  const waiting = new Map<number, (message: Message) => void>();
  child.once('close', () => {
    for (const answer of waiting.values()) answer({ error: { message: 'the browser has ended' } });
  });
  const listeners = new Set<(message: Message) => void>();
  let rest = '';
  let last = 0;
  to.on('error', () => undefined);
  from.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop() ?? '';
    for (const one of messages) {
      const message = JSON.parse(one) as Message;
      if (message.id === undefined) for (const listener of listeners) listener(message);
      else {
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
      }
    }
  });
  return {
    send(method, params = {}, sessionId) {
      last += 1;
      const id = last;
      const answered = new Promise<NonNullable<Message['result']>>((resolve, reject) => {
        waiting.set(id, ({ result, error }) =>
          error === undefined ? resolve(result) : reject(new Error(`${method}: ${error.message}`)),
        );
      });
      to.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
      return answered;
    },
    listen(onEvent) {
      listeners.add(onEvent);
      return () => listeners.delete(onEvent);
    },
  };
}

async function look(pipes: Pipes, url: string, view: View, expression: string): Promise<Looked> {
  const { targetId } = await pipes.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await pipes.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params?: object) => pipes.send(method, params, sessionId);
  const seen = { requests: [] as string[], errors: [] as string[], dialogs: 0 };
  let onLoad: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => {
    onLoad = resolve;
  });
  const stop = pipes.listen(({ method, params, sessionId: of }) => {
    if (of !== sessionId) return;
    if (method === 'Network.requestWillBeSent') seen.requests.push(params.request.url);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') seen.errors.push(params.entry.text);
    if (method === 'Runtime.exceptionThrown') seen.errors.push(params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled') seen.errors.push(`console.${params.type}`);
    if (method === 'Page.loadEventFired') onLoad();
    if (method === 'Page.javascriptDialogOpening') {
      seen.dialogs += 1;
      void send('Page.handleJavaScriptDialog', { accept: false });
    }
  });
  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await send(`${domain}.enable`);
  const { width, height, dark } = view;
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
  await send('Emulation.setEmulatedMedia', { features });
  await send('Page.navigate', { url });
  await loaded;
  const { result } = await send('Runtime.evaluate', { expression, returnByValue: true });
  const { data } = await send('Page.captureScreenshot', { format: 'png' });
  stop();
  await pipes.send('Target.closeTarget', { targetId });
  return { ...seen, value: result.value, png: Buffer.from(data, 'base64') };
}
