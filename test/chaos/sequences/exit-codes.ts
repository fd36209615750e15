import { isCalm, type Weather } from './ledger-server.ts';
import type { CommandStep } from './steps.ts';

/** What is true before a command: of the data folder, and of the API. */
export interface Facts {
  exists: boolean;
  hasSnapshot: boolean;
  /** Records that were too old have left the archive. */
  isArchiveShort: boolean;
  /**
   * Whether a later night can go on in a list, by its cursor or by an id. Else a walk begins again, and fails when it was
   * stopped twice before it came further.
   */
  keepsPlaces: boolean;
}

/** Exit codes that the documents give a command that ended by itself. Pure. */
export function allowedCodes(step: Pick<CommandStep, 'args' | 'stop' | 'weather'>, facts: Facts): number[] {
  const { args, stop } = step;
  const signalled = stop?.signal === 'SIGTERM' ? [75] : [];
  return [...ownCodes(args, step.weather, facts), ...signalled];
}

function ownCodes(args: readonly string[], weather: Weather, facts: Facts): number[] {
  const [verb = ''] = args;
  if (verb === 'run' || verb === 'crawl') {
    return [
      0,
      ...(verb === 'run' ? [4] : []),
      ...(args.includes('--max-requests') ? [75] : []),
      ...(weather.fails > 0 ? [69] : []),
      ...(isCalm(weather) && facts.keepsPlaces ? [] : [3]),
    ];
  }
  if (verb === 'plan') return [0];
  if (!facts.exists) return [2];
  switch (verb) {
    case 'load':
    case 'clean':
    case 'status':
      return [0];
    case 'export':
      return facts.hasSnapshot ? [0] : [2];
    case 'rebuild':
      if (args.includes('--from-archive')) return facts.isArchiveShort ? [2] : [0, 4];
      return facts.hasSnapshot ? [0, 4] : [2];
    default:
      return [0, 4];
  }
}
