import { createInterface } from 'node:readline/promises';
import { UsageError } from '../errors.ts';

/**
 * Asks on the terminal before something is done that costs.
 * @param isSure asks nothing
 * @param what said before the question
 * @throws UsageError for any answer but yes
 */
export async function confirmOrRefuse(isSure: boolean, what: string, question: string): Promise<void> {
  if (isSure) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${what}\n${question} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new UsageError('nothing was done', 'Give --yes to go on without this question.');
}
