import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { LandingLine } from './page-line.ts';
import { renderLine } from './render-page.ts';
import { sealedLine } from './writer.ts';

/**
 * The page lines of a thinned segment, which has only some of its records, changed to describe these.
 * @param records its record file
 * @param lines the original page lines, with the sealing one
 * @param counts how many records are left of each page, by its `end_offset`
 * @throws SyntaxError for a line that is not JSON
 */
export async function thinPageLines(
  records: string,
  lines: readonly string[],
  counts: ReadonlyMap<number, number>,
): Promise<string> {
  const bytes = await readFile(records);
  let offset = 0;
  const thinned = lines.map((text) => {
    const line = JSON.parse(text) as LandingLine | { kind: 'sealed' };
    if (line.kind === 'sealed') return sealedLine;
    const { line_crc32: _, synced: __, ...rest } = line as LandingLine & { line_crc32?: number };
    if (rest.kind !== 'page') return renderLine(rest);
    const from = offset;
    // An empty page ends where the one before it does.
    const count = rest.records === 0 ? 0 : (counts.get(rest.end_offset) ?? 0);
    for (let left = count; left > 0; left -= 1) offset = bytes.indexOf(10, offset) + 1;
    return renderLine({ ...rest, end_offset: offset, crc32: crc32(bytes.subarray(from, offset)) });
  });
  return thinned.join('');
}
