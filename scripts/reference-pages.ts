import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { commandList } from '../src/commands/command-list.ts';
import { commandHelp } from '../src/commands/help.ts';
import { configSchema } from '../src/config/config-schema.ts';
import { jobSchema } from '../src/jobs/job-schema.ts';
import { listOperations } from '../src/operations/catalogue.ts';
import type { Operation } from '../src/operations/operation.ts';
import { pools } from '../src/operations/operation.ts';
import { describeModel, type TableDescription } from '../src/warehouse/model.ts';
import { describeEntities } from './entity-diagram.ts';
import { operationTable } from './operations-page.ts';

/** A page of docs/reference/, as it is and as the code would write it. */
export interface ReferencePage {
  path: string;
  current: string;
  written: string;
}

const folder = new URL('../docs/reference/', import.meta.url);

/**
 * The pages of docs/reference/ with new text between `<!-- generated: name -->` and `<!-- end -->`; people write
 * everything around it. Needs dist/cli.js, whose `--help` it quotes.
 */
export async function referencePages(): Promise<ReferencePage[]> {
  const sections: Record<string, Record<string, () => string | Promise<string>>> = {
    'commands.md': { options: programHelp, commands: describeCommands },
    'config.md': { keys: () => fieldTable(configFields()) },
    'entities.md': { entities: describeEntities },
    'job-files.md': {
      fields: () => fieldTable(jobFields()),
      operations: () =>
        describeOperations(listOperations().filter(({ transport }) => transport !== 'webhook')),
    },
    'operations.md': { table: operationTable, parameters: () => describeOperations(listOperations()) },
    'tables.md': { tables: describeTables },
  };
  const pages = [];
  for (const [name, parts] of Object.entries(sections)) {
    const url = new URL(name, folder);
    const current = readFileSync(url, 'utf8');
    let written = current;
    for (const [part, write] of Object.entries(parts))
      written = replacePart(written, { name, part, text: await write() });
    pages.push({ path: fileURLToPath(url), current, written });
  }
  return pages;
}

/** Puts text between a part's markers. @throws when the page has no such part */
export function replacePart(page: string, { name, part, text }: Record<'name' | 'part' | 'text', string>) {
  const begin = `<!-- generated: ${part} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf('<!-- end -->', from);
  if (from < 0 || to < 0) throw new Error(`${name} has no part "${begin} … <!-- end -->"`);
  return `${page.slice(0, from + begin.length)}\n${text.trim()}\n${page.slice(to)}`;
}

function programHelp(): string {
  const program = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
  return fenced(
    execFileSync(process.execPath, [program, '--help'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LC_ALL: 'en_US.UTF-8' },
    }),
  );
}

async function describeCommands(): Promise<string> {
  const parts = [];
  for (const { name, describe, load } of commandList) {
    const help = commandHelp(name, (await load()).usage, 100);
    parts.push(`### ${name}\n\n${describe}.\n\n${fenced(help)}`);
  }
  return parts.join('\n\n');
}

interface Field {
  path: string;
  type: string;
  fallback: unknown;
  required: boolean;
  describe: string;
}

interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  default?: unknown;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

function configFields(): Field[] {
  return listFields(toJsonSchema(configSchema), '');
}

function jobFields(): Field[] {
  const { properties = {}, required = [] } = toJsonSchema(jobSchema);
  return Object.entries(properties).map(([name, schema]) => toField(name, schema, required.includes(name)));
}

/** The leaves of a schema. The pools have the same fields, so one represents them all. */
function listFields(schema: JsonSchema, path: string): Field[] {
  const entries = Object.entries(schema.properties ?? {});
  if (entries.length === 0) return [toField(path, schema)];
  const isPools = entries.every(([name]) => (pools as readonly string[]).includes(name));
  if (isPools) return listFields(entries[0]![1], `${path}.<pool>`);
  return entries.flatMap(([name, field]) => listFields(field, path === '' ? name : `${path}.${name}`));
}

function toField(path: string, schema: JsonSchema, required = false): Field {
  const { default: fallback, description: describe = '' } = schema;
  return { path, type: typeName(schema), fallback, required, describe };
}

function typeName(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.join(' or ');
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf !== undefined)
    return [
      ...new Set(
        schema.anyOf.map((one) => (one.properties ? `{${Object.keys(one.properties)}: n}` : typeName(one))),
      ),
    ].join(', ');
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'values' : typeName(schema.items)}`;
  const names: Record<string, string> = {
    string: 'text',
    integer: 'whole number',
    object: 'mapping',
    boolean: 'true or false',
  };
  return names[schema.type ?? ''] ?? schema.type ?? 'any value';
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ path, type, fallback, required, describe }) => {
    const shown = fallback === undefined || isEmpty(fallback) ? '' : `\`${fallback}\``;
    return [`\`${path}\``, type, required ? 'required' : shown, describe];
  });
  return markdownTable(['key', 'type', 'default', 'meaning'], rows);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function describeOperations(operations: readonly Operation[]): string {
  return operations.map(describeOperation).join('\n\n');
}

function describeOperation({ name, describe, params, table, paging, limit, transport }: Operation): string {
  const { properties = {} } = toJsonSchema(params);
  const rows = Object.entries(properties).flatMap(([param, schema]) =>
    listFields(schema, param).map((field) => [`\`${field.path}\``, field.type, field.describe]),
  );
  const size = limit === null ? '' : `, at most ${limit} records a request`;
  const into =
    transport === 'webhook'
      ? `Into \`${table}\` by \`ledgerlake webhook\` only: \`call\` prints the answer and keeps nothing`
      : `Into \`${table}\``;
  const head = `### ${name}\n\n${describe}. ${into}; paging: ${paging}${size}.`;
  return rows.length === 0 ? head : `${head}\n\n${markdownTable(['parameter', 'type', 'meaning'], rows)}`;
}

async function describeTables(): Promise<string> {
  return (await describeModel()).map(describeTable).join('\n\n');
}

function describeTable({ name, kind, describe, key, columns }: TableDescription): string {
  const keyed = key.length === 0 ? '' : ` Key: ${key.map((column) => `\`${column}\``).join(', ')}.`;
  const head = `### ${name}\n\n${kind === 'view' ? 'View. ' : ''}${describe}${keyed}`;
  const rows = columns.map((column) => [`\`${column.name}\``, column.type, column.describe]);
  return `${head.trimEnd()}\n\n${markdownTable(['column', 'type', 'meaning'], rows)}`;
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}

function fenced(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return `\`\`\`text\n${lines.join('\n').trim()}\n\`\`\``;
}
