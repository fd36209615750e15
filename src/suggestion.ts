/** `, did you mean "x"?` where a known name is similar; else ''. */
export function suggestion(name: string, known: readonly string[]): string {
  const plain = (text: string) => text.toLowerCase().replace(/[_-]/g, '');
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(plain(name), plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  const near = best !== undefined && best.distance <= Math.max(1, Math.floor(name.length / 3));
  return near ? `, did you mean "${best.candidate}"?` : '';
}

/** Edit distance: letters inserted, removed, replaced or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const least = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
      next.push(swapped ? Math.min(least, before[j - 2]! + 1) : least);
    }
    before = row;
    row = next;
  }
  return row[to.length]!;
}
