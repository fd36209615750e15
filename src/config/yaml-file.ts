import { readFile, stat } from 'node:fs/promises';
import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type * as z from 'zod';
import { UsageError } from '../errors.ts';
import { describeIssues } from './yaml-issues.ts';

/** Where something stands in a parsed YAML file: `['for_each', 'owner']`. */
export type FieldPath = readonly PropertyKey[];

/** One thing wrong with one file; a run of them becomes one UsageError. */
export interface Problem {
  file: string;
  /** Counted from 1; 0 when it is the file as a whole. */
  line: number;
  /** Dotted path of the field; '' when it is the file as a whole. */
  field: string;
  /** What was expected, and what to write instead. */
  message: string;
}

/** A YAML file that was read and parsed. */
export interface YamlFile {
  file: string;
  /** The content as plain values; a mapping's empty (`null`) members are left out: `params:` alone means absent. */
  value: unknown;
  /** A problem at a field of this file; of a field that is not there, the line of what should hold it. */
  problem(field: FieldPath, message: string): Problem;
}

/** Either the thing or everything that is wrong with it. */
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
  // Only the first: what comes behind a syntax error is mostly its echo.
  const error = document.errors[0] ?? findAliasError(document);
  if (error) return { problems: [problemAt(lineAt(error.pos[0]), [], `not valid YAML: ${error.message}`)] };
  let value: unknown;
  try {
    value = withoutNulls(document.toJS());
  } catch (thrown) {
    // Aliases that multiply without end.
    return { problems: [problemAt(0, [], `not valid YAML: ${(thrown as Error).message}`)] };
  }
  const root = document.contents;
  const lineOf = (field: FieldPath) => (root === null ? 0 : lineAt(offsetOf(root, field)));
  return {
    value: { file, value, problem: (field, message) => problemAt(lineOf(field), field, message) },
  };
}

/** Checks a file's content against a schema; every problem is named by line and field, none stops the others. */
export function validateYaml<T>(yaml: YamlFile, schema: z.ZodType<T>): Checked<T> {
  const parsed = schema.safeParse(yaml.value);
  if (parsed.success) return { value: parsed.data };
  const issues = describeIssues(parsed.error.issues, schema, yaml.value);
  const problems = issues.map(({ path, message }) => yaml.problem(path, message));
  return { problems };
}

/** One UsageError of all problems in the order of files and lines, one a line: `<file>:<line>: <field>: <message>`. */
export function problemsError(problems: readonly Problem[], hint: string): UsageError {
  const inOrder = [...problems].sort((a, b) =>
    a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1,
  );
  return new UsageError(inOrder.map(problemText).join('\n'), hint);
}

/** `<file>:<line>: <field>: <message>`; without a message, the place alone. */
export function problemText({ file, line, field, message }: Problem): string {
  return [line === 0 ? file : `${file}:${line}`, field, message].filter((part) => part !== '').join(': ');
}

/**
 * Reads a text file that a user wrote: strict UTF-8, without a byte order mark. Nothing may ever be written to a pipe that
 * stands in a folder, and `/dev/zero` has no end.
 * @param mayBePipe it was named on the command line: what a shell hands over, `<(…)`
 * @throws UsageError when it is no such file, cannot be read or is not UTF-8
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

/** The first alias that stands in what it stands for, or whose anchor is not there; null: none does. */
function findAliasError(document: Document.Parsed): { pos: [number]; message: string } | null {
  let found: { pos: [number]; message: string } | null = null;
  visit(document, {
    Alias(_key, alias, path) {
      const target = alias.resolve(document);
      if (target !== undefined && !path.includes(target)) return undefined;
      const fault = target === undefined ? 'has no anchor before it' : 'stands in what it stands for';
      found = { pos: [alias.range?.[0] ?? 0], message: `the alias *${alias.source} ${fault}` };
      return visit.BREAK;
    },
  });
  return found;
}

/** Where the field's key starts, or the nearest thing above it that is in the file. */
function offsetOf(root: Node, field: FieldPath): number {
  let node: Node = root;
  let offset = node.range?.[0] ?? 0;
  for (const part of field) {
    const found = memberOf(node, part);
    if (found === null) break;
    offset = found.offset;
    if (found.node === null) break;
    node = found.node;
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
