/** JSON with sorted keys and no spaces: what a question's key is the hash of (DESIGN, "Tables"). */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalText((value as Record<string, unknown>)[name])}`);
  return `{${members.join(',')}}`;
}
