import { readText } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';

/** A value of a target file and the line it stands on, counted from 1. */
export interface TargetLine {
  value: string;
  line: number;
}

/**
 * Reads a target file: one value a line, trimmed; blank lines and `#` comments (at the start of a line, or after
 * a space) are skipped. Repeated values are all returned.
 * @throws UsageError when it cannot be read or holds no value
 */
export async function readTargetFile(path: string): Promise<TargetLine[]> {
  const text = await readText(path);
  const lines: TargetLine[] = [];
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const value = raw.replace(/(^|\s)#.*$/, '').trim();
    if (value !== '') lines.push({ value, line: index + 1 });
  }
  if (lines.length > 0) return lines;
  throw new UsageError(
    `${path} holds no target`,
    'Write one value per line; lines that begin with # are ignored.',
  );
}
