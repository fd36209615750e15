import type { Published } from '../publish/published.ts';
import { publishLoaded } from '../run/publish-stage.ts';
import { type ReloadReport, reloadCrawls } from '../run/reload-stage.ts';
import type { Session } from '../run/session.ts';
import { type QuarantineFilter, readQuarantine } from './quarantine.ts';

/** The result of a retry. */
export interface RetryReport {
  /** Entries that were tried. */
  tried: number;
  /** Tried entries that still do not fit. */
  left: number;
  /** Tried entries whose page is not kept any more: only the API has them. */
  gone: number;
  reloaded: ReloadReport;
  refused: Published['refused'];
  audits: Published['audits'];
}

/**
 * Reads the kept text of quarantined records again, with the current mapping. Like a reload it reads whole crawls, whose
 * other rows do not change.
 * @returns with the exit code: 0 when all fits now, 3 when some does not, 4 when a crawl was refused
 */
export async function retryQuarantine(
  session: Session,
  filter: QuarantineFilter,
): Promise<{ report: RetryReport; published: Published; exitCode: number }> {
  const before = await session.withBuild((build) => readQuarantine(build, filter));
  const crawls = new Set(before.map(({ task, crawl }) => `${task}/${crawl}`));
  const tables = new Set(before.map(({ table }) => table));
  const reloaded = await reloadCrawls(session, [...tables], crawls);
  const { published, exitCode } = await publishLoaded(session, reloaded.report.refused);
  const after = await session.withBuild((build) => readQuarantine(build, filter));
  session.closeBuild();
  const ids = new Set(before.map(({ id }) => id));
  const left = after.filter(({ id }) => ids.has(id)).length;
  const report = {
    tried: before.length,
    left,
    gone: before.filter(({ task, crawl }) => reloaded.missing.has(`${task}/${crawl}`)).length,
    reloaded: reloaded.report,
    refused: published.refused,
    audits: published.audits,
  };
  return { report, published, exitCode: exitCode === 0 && left > 0 ? 3 : exitCode };
}
