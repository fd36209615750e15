import type { GlobalArgs } from './context.ts';
import type { Usage } from './usage.ts';

/** What the file named after a command exports; `run` and `crawl`, which differ in a word, are both in run-jobs.ts. */
export interface CommandModule {
  /** The command's own arguments, options and examples. */
  usage: Usage;
  /**
   * @param args options and arguments by their names
   * @returns the exit code; failures are thrown
   */
  execute(args: GlobalArgs & never): Promise<number>;
}

export interface CommandEntry {
  name: string;
  describe: string;
  /** Loaded only when the command is chosen, so that --version and --help start fast. */
  load(): Promise<CommandModule>;
}
