import { isCalm, type Weather } from './ledger-server.ts';
import type { CommandStep } from './steps.ts';

/** What is true of a data folder before a command. */
export interface FolderFacts {
  exists: boolean;
  hasSnapshot: boolean;
  /** Records that were too old have left the archive. */
  isArchiveShort: boolean;
}

/** Exit codes that the documents give a command that ended by itself. Pure. */
export function allowedCodes(
  step: Pick<CommandStep, 'args' | 'stop' | 'weather'>,
  folder: FolderFacts,
): number[] {
  const { args, stop } = step;
  const signalled = stop?.signal === 'SIGTERM' ? [75] : [];
  return [...ownCodes(args, step.weather, folder), ...signalled];
}

function ownCodes(args: readonly string[], weather: Weather, folder: FolderFacts): number[] {
  const [verb = ''] = args;
  if (verb === 'run' || verb === 'crawl') {
    const isCut = args.includes('--max-requests') || weather.fails > 0;
    return [0, ...(verb === 'run' ? [4] : []), ...(isCut ? [75] : []), ...(isCalm(weather) ? [] : [3])];
  }
  if (verb === 'plan') return [0];
  if (!folder.exists) return [2];
  switch (verb) {
    case 'load':
    case 'clean':
    case 'status':
      return [0];
    case 'export':
      return folder.hasSnapshot ? [0] : [2];
    case 'rebuild':
      if (args.includes('--from-archive')) return folder.isArchiveShort ? [2] : [0, 4];
      return folder.hasSnapshot ? [0, 4] : [2];
    default:
      return [0, 4];
  }
}
