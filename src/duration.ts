/** Durations in options and job files: whole numbers with units, the longest first, such as `90s`, `1h30m` or `2d`. */
export const durationPattern =
  /^(?=.*[1-9])(?:(\d{1,6})w)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/;

/** The format of a duration, for error messages. */
export const durationForms = 'whole numbers with w, d, h, m or s, such as 90s, 1h30m or 2d';

const unitsMs = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000];

/** Milliseconds; null for text that is no duration, or one of zero. */
export function parseDuration(text: string): number | null {
  const amounts = durationPattern.exec(text)?.slice(1);
  if (amounts === undefined) return null;
  return amounts.reduce((sum, amount = '0', n) => sum + Number(amount) * (unitsMs[n] as number), 0);
}
