import type { Published } from '../publish/published.ts';
import { countOf } from '../words.ts';
import { describeCounts } from './run-report.ts';
import { oneLine } from './visible-text.ts';

const levels: Readonly<Record<number, string>> = { 40: 'warning: ', 50: 'error: ', 60: 'error: ' };

/** Fields that say nothing to people, or stand in the line otherwise. */
const hidden = new Set(['level', 'time', 'msg']);

/** A log line as people read it: the time, what happened, and its fields as words. Pure. @param json as pino writes it */
export function renderLogLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = typeof time === 'string' ? `${new Date(time).toTimeString().slice(0, 8)} ` : '';
  if (msg === 'published') return `${clock}${describePublished(fields as unknown as PublishedFields)}\n`;
  const told = Object.entries(fields).flatMap(([name, value]) => {
    const text = hidden.has(name) ? null : tellValue(value);
    return text === null ? [] : `${name.replaceAll('_', ' ')} ${text}`;
  });
  const sentence = `${levels[Number(level)] ?? ''}${String(msg ?? '')}`;
  return `${clock}${oneLine(told.length === 0 ? sentence : `${sentence}: ${told.join(', ')}`)}\n`;
}

interface PublishedFields extends Pick<Published, 'crawls' | 'tables'> {
  refused: number;
}

/** `published 2 crawls: assets 12 new, 114 changed; token_accounts 6 new`; what is unchanged stands in the run's report. */
function describePublished({ crawls, refused, tables }: PublishedFields): string {
  const told = Object.entries(tables).flatMap(([table, counts]) => {
    const moved = describeCounts({ ...counts, confirmed: 0 });
    return moved === '' ? [] : `${table} ${moved}`;
  });
  if (crawls + refused + told.length === 0) return 'published nothing: no crawl has ended';
  const what = crawls > 0 ? ` ${countOf(crawls, 'crawl')}` : '';
  const but = refused > 0 ? `, ${countOf(refused, 'refused', 'refused')}` : '';
  return `published${what}${but}: ${told.length === 0 ? 'no row changed' : told.join('; ')}`;
}

/** Null: nothing to tell. What holds much is counted. */
function tellValue(value: unknown): string | null {
  if (value === null || value === undefined || value === '' || value === 0) return null;
  if (Array.isArray(value))
    return value.length === 0 ? null : value.map((one) => tellValue(one) ?? '').join('; ');
  if (typeof value !== 'object') return String(value);
  const told = Object.entries(value).flatMap(([name, inner]) => {
    const text = tellValue(inner);
    return text === null ? [] : `${name} ${text}`;
  });
  return told.length === 0 ? null : `(${told.join(', ')})`;
}
