import { inFlight } from './job-settings.ts';
import type { Answered } from './ledger-server.ts';

/** How a run or crawl ended, and what it was answered. */
export interface RunEnded {
  answered: readonly Answered[];
  /** Killed without having noted that it was done. */
  died: boolean;
  /** 69 or 75: the next run goes on. */
  stopped: boolean;
  /** Nothing failed: a target that did begins anew. */
  isSound: boolean;
}

/** Watches that no page of a list is asked for again as long as runs go on where the last one stopped. */
export interface RoundWatch {
  /** The jobs have changed: other pages are asked for. */
  forget(): void;
  /** @returns what is wrong, a sentence each */
  see(run: RunEnded): string[];
}

export function createRoundWatch(): RoundWatch {
  const landed = new Set<string>();
  let allowed = 0;
  let isSound = true;
  const forget = () => {
    landed.clear();
    allowed = 0;
    isSound = true;
  };
  return {
    forget,
    see(run) {
      isSound &&= run.isSound;
      const names = run.answered.flatMap((one) => namePage(one) ?? []);
      const again = names.filter((name) => landed.has(name));
      const problem = `${again.length} pages were asked for again, ${allowed} may be: ${again.slice(0, 5)}`;
      const problems = isSound && again.length > allowed ? [problem] : [];
      for (const name of names) landed.add(name);
      if (run.died) allowed += inFlight;
      else if (!run.stopped) forget();
      return problems;
    },
  };
}

/**
 * What tells a page of a list from others; null for those that may be asked for again: a feed's, which is walked down into
 * the newest slot that is in, look-ups of what left its list, which two runs have to be told of, and what a replica behind
 * answered.
 */
function namePage({ method, params, behind }: Answered): string | null {
  const isList = method === 'getTokenAccounts' || method === 'getAssetsByGroup';
  return isList && !behind ? `${method} ${JSON.stringify(params)}` : null;
}
