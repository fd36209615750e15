import { findNewestSegment } from '../archive/retention.ts';
import { UsageError } from '../errors.ts';
import type { ForgottenLine } from '../landing/page-line.ts';
import { createLandingLog } from '../landing/writer.ts';
import { findForgotten, forgettableTables } from '../publish/forget-rows.ts';
import { readSql } from '../sql-text.ts';
import type { AuditFinding } from '../warehouse/own-views.ts';
import { loadWaiting, publishStage, snapshotStage } from './publish-stage.ts';
import { reloadRemapped } from './reload-stage.ts';
import { resetState } from './reset-state.ts';
import type { Session } from './session.ts';

/** The rows that `forget` would close. */
export interface Forgettable {
  targets: number;
  /** Targets that their job still has, so that the next run brings their rows back. */
  present: number;
  /** Rows by table. */
  tables: Record<string, number>;
}

/** Keys in a line of the landing log. */
const keysPerLine = 1000;

/**
 * Publishes what earlier runs received, then finds the rows that only the targets of a job (or `job/target`) brought.
 * @throws UsageError where the job brought none, or where the build does not know yet which rows other jobs follow
 */
export async function findForgettable(session: Session, name: string): Promise<Forgettable> {
  await reloadRemapped(session);
  await loadWaiting(session);
  await publishStage(session);
  return session.withBuild(async (build) => {
    const targets = await build.rows<{ present: boolean }>(
      `select exists (from meta.targets t where t.job = p.job and t.target = p.target) as present
      from meta.target_params p where $name in (p.job, p.job || '/' || p.target)`,
      { name },
    );
    if (targets.length === 0)
      throw new UsageError(
        `nothing is known of rows that ${name} brought`,
        `Name a job, or job/target, as \`ledgerlake status\` and \`ledgerlake status <job>\` list them. Rows of ${forgettableTables()
          .map((spec) => spec.name)
          .join(', ')} can be forgotten.`,
      );
    await build.run('create or replace temp table chosen_target as select job, target from meta.targets');
    const [others] = await build.rows<{ is_known: boolean }>(readSql('follow/digest.sql'));
    if (others?.is_known !== true)
      throw new UsageError(
        'which rows other jobs follow is not known yet: a job was never crawled with its targets recorded',
        'Run all jobs once (`ledgerlake run`), then forget.',
      );
    const present = targets.filter((target) => target.present).length;
    return { targets: targets.length, present, tables: await findForgotten(build, name) };
  });
}

/**
 * Closes the rows that `findForgettable` found. Their keys are recorded in the landing log, so that a rebuilt build closes
 * the same rows; what the job brings later is new.
 * @returns audits of the project that returned rows; where one is an error, the snapshot still has the rows
 */
export async function forgetRows(session: Session, name: string): Promise<AuditFinding[]> {
  // First, because a crawl that continues would bring some rows back, and one that counts as complete none.
  await resetState(session, [name]);
  await writeForgotten(session, name);
  await publishStage(session);
  return snapshotStage(session, { exitCode: 0, stoppedBy: null });
}

async function writeForgotten({ folder, run, withBuild }: Session, name: string): Promise<void> {
  const landing = createLandingLog({ dir: folder.landing, highestNumber: await findNewestSegment(folder) });
  const line: Omit<ForgottenLine, 'table' | 'keys' | 'last'> = {
    ...{ kind: 'forgotten', task: '_forget', crawl: run, run, name, job: '_forget', target: '' },
    ...{ operation: '', shape: 'asset', forgotten_at: new Date().toISOString() },
  };
  try {
    await withBuild(async (build) => {
      for (const { name: table } of forgettableTables())
        for (let from = 0; ; from += keysPerLine) {
          const rows = await build.rows<{ key: string }>(
            'select key from forgotten_key where table_name = $table and n >= $from and n < $to',
            { table, from, to: from + keysPerLine },
          );
          if (rows.length === 0) break;
          await landing.appendForgotten({ ...line, table, keys: rows.map(({ key }) => key), last: false });
        }
    });
    await landing.appendForgotten({ ...line, table: '', keys: [], last: true });
  } finally {
    await landing.close();
  }
}
