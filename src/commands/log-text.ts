import type { Published } from '../publish/published.ts';
import { countOf } from '../words.ts';
import { describeCounts } from './run-report.ts';
import { oneLine } from './visible-text.ts';

const levels: Readonly<Record<number, string>> = { 40: 'warning: ', 50: 'error: ', 60: 'error: ' };

/** Fields that the line shows in another form, or not at all. */
const hidden = new Set(['level', 'time', 'msg']);

/** A log line as people read it: the time, what happened, and its fields as words. Pure. @param json as pino writes it */
export function renderLogLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = typeof time === 'string' ? `${new Date(time).toTimeString().slice(0, 8)} ` : '';
  if (msg === 'published') return `${clock}${describePublished(fields as unknown as PublishedFields)}\n`;
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    const text = hidden.has(name) ? null : describeValue(value);
    return text === null ? [] : `${name.replaceAll('_', ' ')} ${text}`;
  });
  const sentence = `${levels[Number(level)] ?? ''}${String(msg ?? '')}`;
  return `${clock}${oneLine(parts.length === 0 ? sentence : `${sentence}: ${parts.join(', ')}`)}\n`;
}

interface PublishedFields extends Pick<Published, 'crawls' | 'tables'> {
  refused: number;
}

/** `published 2 crawls: assets 12 new, 114 changed; token_accounts 6 new`; unchanged rows are in the run's report. */
function describePublished({ crawls, refused, tables }: PublishedFields): string {
  const changes = Object.entries(tables).flatMap(([table, counts]) => {
    const text = describeCounts({ ...counts, confirmed: 0 });
    return text === '' ? [] : `${table} ${text}`;
  });
  if (crawls + refused + changes.length === 0) return 'published nothing: no crawl has ended';
  const publishedText = crawls > 0 ? ` ${countOf(crawls, 'crawl')}` : '';
  const refusedText = refused > 0 ? `, ${countOf(refused, 'refused', 'refused')}` : '';
  return `published${publishedText}${refusedText}: ${changes.length === 0 ? 'no row changed' : changes.join('; ')}`;
}

/** Null for what is empty or zero: the line leaves it out. */
function describeValue(value: unknown): string | null {
  if (value === null || value === undefined || value === '' || value === 0) return null;
  if (Array.isArray(value))
    return value.length === 0 ? null : value.map((item) => describeValue(item) ?? '').join('; ');
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).flatMap(([name, inner]) => {
    const text = describeValue(inner);
    return text === null ? [] : `${name} ${text}`;
  });
  return parts.length === 0 ? null : `(${parts.join(', ')})`;
}
