import { realTiming } from '../api/timing.ts';
import { createShortPages, type ShortPages } from '../crawl/paging.ts';
import { appendRunLog, listRefuted, readRunLog } from './run-log.ts';
import type { Session } from './session.ts';

/** Short pages of a run that notes when they turn out not to be the end. */
export interface WatchedShortPages extends ShortPages {
  /** Whether one did since this was last asked. */
  takeRefuted(): boolean;
}

/** Short pages as the config has them, but for operations that an earlier run or this one found out about. */
export async function openShortPages({ config, folder, run, log }: Session): Promise<WatchedShortPages> {
  const known = listRefuted(await readRunLog(folder.runs));
  const off = [...config.shortPageEnds].filter((name) => known.has(name));
  if (off.length > 0)
    log.warn(
      { operations: off },
      'api.short_page_ends is ignored: an earlier run found records after a short page; remove it from the config',
    );
  const trusted = new Set([...config.shortPageEnds].filter((name) => !known.has(name)));
  let refuted = false;
  const shortPages = createShortPages(trusted, realTiming.random, async (operation, job, target) => {
    await appendRunLog(folder.runs, { run, short_pages: [operation] });
    refuted = true;
    log.warn(
      { operation, job, target },
      'a short page was not the last of its list: api.short_page_ends is off for this source, and the targets that relied on it are crawled again',
    );
  });
  return {
    ...shortPages,
    takeRefuted() {
      const isNew = refuted;
      refuted = false;
      return isNew;
    },
  };
}
