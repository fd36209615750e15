import type { Published } from '../publish/published.ts';
import { publishLoaded } from '../run/publish-stage.ts';
import { type ReloadReport, reloadCrawls } from '../run/reload-stage.ts';
import type { Session } from '../run/session.ts';
import { type QuarantineFilter, readQuarantine } from './quarantine.ts';

/** What a retry came to. */
export interface RetryReport {
  /** Entries that it was about, … */
  tried: number;
  /** … and those of them that still do not fit. */
  left: number;
  /** Those of which no page is kept: only the API can say it again. */
  gone: number;
  reloaded: ReloadReport;
  refused: Published['refused'];
  audits: Published['audits'];
}

/**
 * Reads the kept text of quarantined records once more, with the mapping of today. Whole crawls are read, as by a reload:
 * their other rows stay what they are.
 * @returns with the exit code: 0 when all fits now, 3 when some does not, 4 when a crawl was refused
 */
export async function retryQuarantine(
  session: Session,
  filter: QuarantineFilter,
): Promise<{ report: RetryReport; published: Published; exitCode: number }> {
  const before = await session.withBuild((build) => readQuarantine(build, filter));
  const crawls = new Set(before.map(({ task, crawl }) => `${task}/${crawl}`));
  const shapesOf = new Set(before.map(({ table }) => table));
  const reloaded = await reloadCrawls(session, [...shapesOf], crawls);
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
