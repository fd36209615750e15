import { openForJobSql } from '../warehouse/job-sql.ts';
import {
  type AuditFinding,
  checkOwnSql,
  isError,
  replaceOwnViews,
  runAudits,
} from '../warehouse/own-views.ts';
import type { Session } from './session.ts';

/**
 * Before the snapshot is replaced: runs the audits of the project on what is to be published, with its views, and puts the
 * views into the build. A verb that sees no folder of jobs leaves the views as they are, and runs no audit.
 * @returns audits that returned rows; none of `error` severity may be published
 * @throws UsageError naming a file whose SQL the tables do not answer
 */
export async function ownSqlStage(session: Session): Promise<AuditFinding[]> {
  const { ownSql, folder, databaseOptions, log } = session;
  if (ownSql === null) return [];
  const { views, audits } = ownSql;
  let ordered: typeof views = [];
  let findings: AuditFinding[] = [];
  if (views.length + audits.length > 0) {
    session.closeBuild();
    const reader = await openForJobSql(folder.build, databaseOptions);
    try {
      ordered = await checkOwnSql(reader, views, audits);
      findings = await runAudits(reader, audits);
    } finally {
      reader.close();
    }
  }
  for (const { audit, severity, rows } of findings)
    log.warn({ audit, severity, rows }, 'an audit of the project returned rows');
  if (!findings.some(isError)) await session.withBuild((build) => replaceOwnViews(build, ordered));
  return findings;
}
