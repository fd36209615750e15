import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** A program that opens a DuckDB file; a process of its own, because locks belong to processes. */
export function startReader(body: string, path: string) {
  const text = `import { DuckDBInstance } from ${JSON.stringify(import.meta.resolve('@duckdb/node-api'))};
    const path = process.argv[1];
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  return { child, ended, nextLine: async () => (await lines.next()).value as string | undefined };
}
