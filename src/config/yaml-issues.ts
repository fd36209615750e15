import * as z from 'zod';
import { suggestion } from '../suggestion.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** A problem of one field. */
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

/** Describes all issues of one parse. Rules about a mapping as a whole are left out while it has unknown fields. */
export function describeIssues(issues: readonly Issue[], schema: z.ZodType, value: unknown): FieldIssue[] {
  const unknownAt = new Set(
    issues.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('\0')),
  );
  return issues
    .filter(({ code, path }) => code !== 'custom' || !unknownAt.has(path.join('\0')))
    .flatMap((issue) => describeIssue(issue, schema, value));
}

/**
 * Describes an issue of zod to someone who edits YAML: what was expected and, for an unknown field, the nearest known one.
 * Values are not repeated, except those that should have been one of a list, because a key pasted into the wrong field must
 * not end up in a log.
 */
export function describeIssue(issue: Issue, schema: z.ZodType, value: unknown): FieldIssue[] {
  const path = issue.path;
  if (issue.code === 'unrecognized_keys') {
    const known = knownFields(schema, path);
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownField(key, known) }));
  }
  // An invalid key of a record: the issue's path is the key itself.
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
  return [{ path, message: messageOf(issue, valueAt(value, path)) }];
}

function messageOf(issue: Issue, actual: unknown): string {
  // Zod's own messages begin with these words. The others are the schema's, which know best.
  const isCustom = !/^(Invalid|Too )/.test(issue.message);
  if (isCustom) return actual === undefined ? `missing, ${issue.message}` : issue.message;
  switch (issue.code) {
    case 'invalid_type': {
      const expected = nouns[issue.expected] ?? String(issue.expected);
      if (actual === undefined) return `missing, expected ${expected}`;
      // A bare number or `true` in YAML is not text, which is the commonest mistake.
      const isBare = issue.expected === 'string' && typeof actual !== 'object';
      return `expected ${expected}, got ${noun(actual)}${isBare ? ' (put text in quotes)' : ''}`;
    }
    case 'invalid_value': {
      const expected = `expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
      if (actual === undefined) return `missing, ${expected}`;
      if (typeof actual !== 'string') return `${expected}, got ${noun(actual)}`;
      return `${expected}, got "${actual}"${suggestion(actual, issue.values.map(String))}`;
    }
    case 'too_small':
    case 'too_big':
      return issue.message.replace(/^Too (small|big): /, '');
    default:
      return actual === undefined ? `missing, ${issue.message}` : issue.message;
  }
}

function noun(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'text';
  return value === null ? 'nothing' : 'a mapping';
}

/** The message for an unknown field: the nearest known name or all names, or a warning if it looks like the API key. */
export function unknownField(name: string, known: readonly string[]): string {
  if (/^(ledgerlake[_-]?)?(api|rpc|wallet|webhook)?[_-]?(key|token|secret)([_-]?file)?$/i.test(name)) {
    return 'the API key does not belong in this file; set LEDGERLAKE_API_KEY or LEDGERLAKE_API_KEY_FILE in the environment, and replace this key, because others may have read it';
  }
  const remedy = suggestion(name, known);
  if (remedy !== '') return `unknown field${remedy}`;
  return known.length === 0
    ? 'unknown field, expected none'
    : `unknown field, expected one of ${known.join(', ')}`;
}

/** Names of the fields that a mapping at this path of the schema may have; empty if all names are allowed. */
function knownFields(schema: z.ZodType, path: Path): string[] {
  let member: z.ZodType | undefined = schema;
  for (const part of path) member = member && memberSchema(unwrapSchema(member), part);
  const inner = member && unwrapSchema(member);
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

/** The schema inside optional, default, prefault and nullable. */
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
  let member = value;
  for (const part of path) {
    if (typeof member !== 'object' || member === null) return undefined;
    member = Object.hasOwn(member, part) ? (member as Record<PropertyKey, unknown>)[part] : undefined;
  }
  return member;
}
