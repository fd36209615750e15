import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { explainRow } from '../pipeline/explain-row.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { addExamples } from './examples.ts';
import { explainText } from './explain-text.ts';

interface ExplainArgs extends GlobalArgs {
  table: string;
  key: string[];
  all: boolean;
}

/** Options of `ledgerlake explain`. */
export function describeOptions(command: Command): Command {
  command
    .argument('<table>', 'Table of the row')
    .argument('<key...>', 'Values of its key columns, in the order of `ledgerlake tables <table>`')
    .option('--all', 'Look for the answers behind former versions, too', false);
  return addExamples(
    command,
    {
      'ledgerlake explain assets <id>': 'Which answers wrote which groups of an asset, with their own text',
      'ledgerlake explain wallet_balances <wallet> <mint> --json': 'A key of two columns, for a program',
    },
    'Reads the snapshot, the archive and the landing log; takes no lock. Says so where a page is not kept any more.',
  );
}

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
