/** Numbers, durations and names as people read them. Nothing here touches a file. */

const titles: Readonly<Record<string, string>> = {
  _confirm: 'look-ups of rows that left their lists',
  _webhook: 'webhooks that were switched',
};

/** The title of a job: its name, or what a built-in job does. */
export function jobTitle(name: string): string {
  return titles[name] ?? name;
}

/** `1,234,567`, whatever the locale of the machine. */
export function formatCount(count: number | bigint): string {
  return count.toLocaleString('en-US');
}

/** `1 target`, `4,941 targets`. */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${BigInt(count) === 1n ? one : many}`;
}

/** A duration that is drawn again and again, in whole units: `45 s`, `12 min`, `2 h 3 min`, `3 d 4 h`. */
export function formatCoarsely(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return formatSeconds(seconds);
}

/** A duration: `0.4 s`, `24 s`, `1 min 5 s`, `2 h 3 min`, `3 d 4 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.round(seconds / 3600);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `0 B`, `999 B`, `1.2 MB`; powers of 1,000 like `ls --si` and DuckDB. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits)} ${units[unit]}`;
}
