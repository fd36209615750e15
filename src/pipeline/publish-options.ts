import { type Accepted, nothingAccepted } from '../warehouse/accepted.ts';
import type { PublishOptions } from '../warehouse/publish.ts';
import type { Session } from './session.ts';

/** What publish is told by the run and its config. @param accept what the guards let pass */
export function publishOptions(
  { run, config }: Pick<Session, 'run' | 'config'>,
  accept: Accepted = nothingAccepted,
): PublishOptions {
  return {
    run,
    quarantineLimit: config.warehouse.quarantineLimit,
    accept,
  };
}
