import type { PublishOptions } from '../publish/publish.ts';
import type { Session } from './session.ts';

/** What the run and its config ask of publish. */
export function publishOptions({ run, config }: Pick<Session, 'run' | 'config'>): PublishOptions {
  return {
    run,
    quarantineLimit: config.warehouse.quarantineLimit,
    guards: config.warehouse.guards,
  };
}
