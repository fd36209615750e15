import type { Command } from 'commander';
import { publishLoaded } from '../pipeline/publish-stage.ts';
import type { GlobalArgs } from './context.ts';
import { addExamples } from './examples.ts';
import { runOffline } from './offline.ts';
import { refusalLines } from './refusal-text.ts';

/** Options of `ledgerlake publish`. */
export function describeOptions(command: Command): Command {
  return addExamples(command, {
    'ledgerlake publish': 'After `load`: complete targets into the tables, then a new snapshot',
  });
}

/** `ledgerlake publish`: staging of complete tasks into the tables, then the snapshot. */
export function execute(args: GlobalArgs): Promise<number> {
  return runOffline('publish', args, async (session, context) => {
    // What `crawl` left untyped would otherwise wait for the next `load`.
    const { published, exitCode } = await publishLoaded(session);
    const lines = [`published ${published.crawls} crawls`, ...refusalLines(published.refused)];
    context.print(lines.join('\n'), published);
    return exitCode;
  });
}
