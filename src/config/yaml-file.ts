import { readFile, stat } from 'node:fs/promises';
import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type * as z from 'zod';
import { UsageError } from '../errors.ts';
import { describeIssues } from './yaml-issues.ts';

/** The path of a field in a parsed YAML file: `['for_each', 'owner']`. */
export type FieldPath = readonly PropertyKey[];

/** One thing wrong with one file. `problemsError` makes one UsageError of several. */
export interface Problem {
  file: string;
  /** From 1; 0 for the file as a whole. */
  line: number;
  /** Dotted path of the field; '' for the file as a whole. */
  field: string;
  /** What was expected, and what to write instead. */
  message: string;
}

/** A YAML file that was read and parsed. */
export interface YamlFile {
  file: string;
  /** The content as plain values. Empty (`null`) members of mappings are left out, because `params:` alone means absent. */
  value: unknown;
  /** Makes a problem of a field. If the field is missing, its line is that of the nearest parent in the file. */
  problem(field: FieldPath, message: string): Problem;
}

/** A value, or all problems with it. */
export type Checked<T> = { value: T; problems?: never } | { value?: never; problems: Problem[] };

/**
 * Reads a YAML file. Syntax errors and repeated keys come back as problems.
 * @param mayBePipe as readText
 * @throws UsageError when the file cannot be read
 */
export async function readYamlFile(file: string, mayBePipe = false): Promise<Checked<YamlFile>> {
  const text = await readText(file, mayBePipe);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const problemAt = (line: number, field: FieldPath, message: string): Problem => ({
    file,
    line,
    field: fieldText(field),
    message,
  });
  // Only the first error, because those behind it are mostly its consequences.
  const error = document.errors[0] ?? findAliasError(document);
  if (error) return { problems: [problemAt(lineAt(error.pos[0]), [], `not valid YAML: ${error.message}`)] };
  let value: unknown;
  try {
    value = withoutNulls(document.toJS());
  } catch (thrown) {
    // Aliases that multiply too often.
    return { problems: [problemAt(0, [], `not valid YAML: ${(thrown as Error).message}`)] };
  }
  const root = document.contents;
  const lineOf = (field: FieldPath) => (root === null ? 0 : lineAt(offsetOf(root, field)));
  return {
    value: { file, value, problem: (field, message) => problemAt(lineOf(field), field, message) },
  };
}

/** Checks a file's content against a schema and returns all problems. */
export function validateYaml<T>(yaml: YamlFile, schema: z.ZodType<T>): Checked<T> {
  const parsed = schema.safeParse(yaml.value);
  if (parsed.success) return { value: parsed.data };
  const issues = describeIssues(parsed.error.issues, schema, yaml.value);
  const problems = issues.map(({ path, message }) => yaml.problem(path, message));
  return { problems };
}

/** One UsageError of all problems, ordered by file and line, one per line (`problemText`). */
export function problemsError(problems: readonly Problem[], hint: string): UsageError {
  const inOrder = [...problems].sort((a, b) =>
    a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1,
  );
  return new UsageError(inOrder.map(problemText).join('\n'), hint);
}

/** `<file>:<line>: <field>: <message>`; without a message, only the location. */
export function problemText({ file, line, field, message }: Problem): string {
  return [line === 0 ? file : `${file}:${line}`, field, message].filter((part) => part !== '').join(': ');
}

/**
 * Reads a text file that a user wrote, as strict UTF-8, and drops a byte order mark. Only regular files are read: a pipe in a
 * folder may never be written to, and `/dev/zero` has no end.
 * @param mayBePipe true for a file named on the command line, which a shell may hand over as a pipe: `<(…)`
 * @throws UsageError for another kind of file, one that cannot be read, or one that is not UTF-8
 */
export async function readText(file: string, mayBePipe = false): Promise<string> {
  let bytes: Buffer;
  try {
    const kind = await stat(file);
    if (!kind.isFile() && !(mayBePipe && kind.isFIFO()))
      throw Object.assign(new Error(), { code: 'no regular file' });
    bytes = await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new UsageError(
      `cannot read ${file} (${code})`,
      'Check that the file exists and that this user may read it.',
    );
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${file} is not UTF-8 text`, 'Save the file as UTF-8.');
  }
}

/** `for_each.owner`, `after[1]`: a field path as people write it. */
export function fieldText(field: FieldPath): string {
  return field.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** The first alias that contains itself or has no anchor; null if there is none. */
function findAliasError(document: Document.Parsed): { pos: [number]; message: string } | null {
  let first: { pos: [number]; message: string } | null = null;
  visit(document, {
    Alias(_key, alias, path) {
      const target = alias.resolve(document);
      if (target !== undefined && !path.includes(target)) return undefined;
      const fault = target === undefined ? 'has no anchor before it' : 'contains itself';
      first = { pos: [alias.range?.[0] ?? 0], message: `the alias *${alias.source} ${fault}` };
      return visit.BREAK;
    },
  });
  return first;
}

/** The offset of the field's key, or of its nearest parent in the file. */
function offsetOf(root: Node, field: FieldPath): number {
  let node: Node = root;
  let offset = node.range?.[0] ?? 0;
  for (const part of field) {
    const member = memberOf(node, part);
    if (member === null) break;
    offset = member.offset;
    if (member.node === null) break;
    node = member.node;
  }
  return offset;
}

function memberOf(node: Node, part: PropertyKey): { offset: number; node: Node | null } | null {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    if (pair === undefined || !isNode(pair.key)) return null;
    return { offset: pair.key.range?.[0] ?? 0, node: isNode(pair.value) ? pair.value : null };
  }
  if (!('items' in node) || typeof part !== 'number') return null;
  const item: unknown = (node.items as unknown[])[part];
  return isNode(item) ? { offset: item.range?.[0] ?? 0, node: item } : null;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}
