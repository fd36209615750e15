import { createInterface } from 'node:readline/promises';
import type { LedgerlakeError } from '../errors.ts';

/**
 * Asks on the terminal before something that cannot be undone.
 * @throws `unattended` where nobody can be asked, `declined` for any answer but yes
 */
export async function askYes(
  question: string,
  { unattended, declined }: Record<'unattended' | 'declined', LedgerlakeError>,
): Promise<void> {
  if (process.stdin.isTTY !== true) throw unattended;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw declined;
}
