import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Target } from './records.ts';

/** Starts `bench/server.ts` over these lists, in a process of its own. The caller closes it. */
export async function startServer(targets: readonly Target[]): Promise<{ url: string; close(): void }> {
  const script = fileURLToPath(new URL('server.ts', import.meta.url));
  const server = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  server.stdin.end(JSON.stringify(targets));
  const [line] = (await once(server.stdout, 'data')) as [Buffer];
  return { url: line.toString().trim(), close: () => void server.kill() };
}
