import * as z from 'zod';
import { suggestion } from '../suggestion.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** What is wrong at one field, in words. */
export interface FieldIssue {
  path: Path;
  message: string;
}

const nouns: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping (`name: value` lines)',
  record: 'a mapping (`name: value` lines)',
};

/** All issues of one parse in words. A rule about a mapping as a whole waits until its fields are right. */
export function describeIssues(issues: readonly Issue[], schema: z.ZodType, value: unknown): FieldIssue[] {
  const unknownAt = new Set(
    issues.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('\0')),
  );
  return issues
    .filter(({ code, path }) => code !== 'custom' || !unknownAt.has(path.join('\0')))
    .flatMap((issue) => describeIssue(issue, schema, value));
}

/**
 * Says an issue of zod in the words of someone who edits YAML: what was expected and, for an unknown field, which
 * one is meant. Values are never repeated except words that should have been one of a list: a key pasted into the
 * wrong place must not end up in a log.
 */
export function describeIssue(issue: Issue, schema: z.ZodType, value: unknown): FieldIssue[] {
  const path = issue.path;
  if (issue.code === 'unrecognized_keys') {
    const known = knownFields(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownField(key, known) }));
  }
  // A record's key that is none: the issue stands at the key itself.
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
  return [{ path, message: messageOf(issue, valueAt(value, path)) }];
}

function messageOf(issue: Issue, actual: unknown): string {
  // A schema's own words know best; zod's start like this.
  const own = !/^(Invalid|Too )/.test(issue.message);
  if (own) return actual === undefined ? `missing, ${issue.message}` : issue.message;
  switch (issue.code) {
    case 'invalid_type': {
      const expected = nouns[issue.expected] ?? String(issue.expected);
      if (actual === undefined) return `missing, expected ${expected}`;
      // A bare number or `true` in YAML is not text: the commonest surprise deserves its remedy.
      const bare = issue.expected === 'string' && typeof actual !== 'object';
      return `expected ${expected}, got ${noun(actual)}${bare ? ' (put text in quotes)' : ''}`;
    }
    case 'invalid_value': {
      const expected = `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
      if (actual === undefined) return `missing, ${expected}`;
      if (typeof actual !== 'string') return `${expected}, got ${noun(actual)}`;
      return `${expected}, got "${actual}"${suggestion(actual, issue.values.map(String))}`;
    }
    case 'too_small':
      return `expected ${sizeText(issue.origin, 'at least', issue.minimum, issue.inclusive)}`;
    case 'too_big':
      return `expected ${sizeText(issue.origin, 'at most', issue.maximum, issue.inclusive)}`;
    default:
      return actual === undefined ? `missing, ${issue.message}` : issue.message;
  }
}

function sizeText(origin: string, bound: string, size: number | bigint, inclusive = true): string {
  const limit = inclusive ? bound : bound.replace('at least', 'more than').replace('at most', 'less than');
  if (origin === 'string') return size === 1 ? 'text that is not empty' : `${limit} ${size} characters`;
  if (origin === 'array') return `${limit} ${size} ${size === 1 ? 'item' : 'items'}`;
  return `${limit} ${size}`;
}

function noun(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'text';
  return value === null ? 'nothing' : 'a mapping';
}

/** What an unknown field's problem says: the key's own remedy, the nearest known name, or all names. */
export function unknownField(name: string, known: readonly string[]): string {
  if (/^(ledgerlake[_-]?)?(api|rpc|wallet|webhook)?[_-]?(key|token|secret)([_-]?file)?$/i.test(name)) {
    return 'the API key never stands in a file of this kind; set LEDGERLAKE_API_KEY or LEDGERLAKE_API_KEY_FILE in the environment, and give this key up: it may have been read';
  }
  const meant = suggestion(name, known);
  if (meant !== '') return `unknown field${meant}`;
  return known.length === 0
    ? 'unknown field, expected none'
    : `unknown field, expected one of ${known.join(', ')}`;
}

/** Names a mapping at this path of the schema may hold; empty when any may. */
function knownFields(schema: z.ZodType, path: Path): string[] {
  let at: z.ZodType | undefined = schema;
  for (const part of path) at = at && memberSchema(unwrapSchema(at), part);
  const inner = at && unwrapSchema(at);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function memberSchema(schema: z.ZodType, part: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    return (schema.shape[String(part)] ?? schema.def.catchall) as z.ZodType | undefined;
  }
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return undefined;
}

/** The schema below optional, default and the like. */
export function unwrapSchema(schema: z.ZodType): z.ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodNullable
  ) {
    inner = inner.unwrap() as z.ZodType;
  }
  return inner;
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Object.hasOwn(at, part) ? (at as Record<PropertyKey, unknown>)[part] : undefined;
  }
  return at;
}
