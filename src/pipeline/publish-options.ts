import type { PublishOptions } from '../warehouse/publish.ts';
import type { Session } from './session.ts';

/** What publish is told by the run and its config. @param acceptVanished jobs and targets the brake lets pass */
export function publishOptions(
  { run, config }: Pick<Session, 'run' | 'config'>,
  acceptVanished: readonly string[] = [],
): PublishOptions {
  return {
    run,
    quarantineLimit: config.warehouse.quarantineLimit,
    acceptVanished,
  };
}
