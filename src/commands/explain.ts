import { tmpdir } from 'node:os';
import { explainRow } from '../status/explain-row.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { explainText } from './explain-text.ts';
import type { Usage } from './usage.ts';

interface ExplainArgs extends GlobalArgs {
  table: string;
  key: string[];
  all: boolean;
}

/** Arguments and options of `ledgerlake explain`. */
export const usage: Usage = {
  arguments: {
    '<table>': 'Table of the row',
    '<key...>': 'Values of its key columns, in the order of `ledgerlake tables <table>`',
  },
  options: { '--all': 'Look for the answers behind former versions, too' },
  examples: {
    'ledgerlake explain assets <id>': 'Which answers wrote which groups of an asset, with their own text',
    'ledgerlake explain wallet_balances <wallet> <mint> --json': 'A key of two columns, for a program',
  },
  notes:
    'Reads the snapshot, the archive and the landing log; takes no lock. Says so where a page is not kept any more.',
};

/** `ledgerlake explain <table> <key>`: where a row comes from, and why it is as it is. */
export async function execute(args: ExplainArgs): Promise<number> {
  const { config, folder, print } = await openContext(args, { asks: false });
  const { memoryLimit, threads } = config.warehouse;
  const explanation = await untilStopped((signal) =>
    explainRow(folder, args.table, args.key, args.all, { memoryLimit, threads, tempDir: tmpdir(), signal }),
  );
  print(explainText(explanation, args.all), explanation);
  return 0;
}
