import { UsageError } from '../errors.ts';
import { listSql, quoteName, quoteText } from '../sql-text.ts';
import type { Database } from './database.ts';
import { checkJobSql, runJobSql } from './job-sql.ts';
import { readTableSpecs } from './table-spec.ts';
import type { UserAudit, UserQuery } from './user-sql.ts';

/** An audit that returned rows. */
export interface AuditFinding {
  audit: string;
  severity: 'error' | 'warn';
  describe: string;
  rows: number;
  /** The first of them, as JSON: three at most. */
  examples: string[];
}

/**
 * Checks views and audits: that each is exactly one SELECT, of tables, columns and views that exist. The views can be queried
 * afterwards, through this connection only.
 * @param database confined to its tables (job-sql.ts)
 * @returns the views, each after those that it reads
 * @throws UsageError naming the file
 */
export async function checkOwnSql(
  database: Database,
  views: readonly UserQuery[],
  audits: readonly UserQuery[],
): Promise<UserQuery[]> {
  for (const view of views) refuseTaken(view);
  const ordered = orderViews(views);
  for (const view of ordered) await makeView(database, view, 'temp view');
  for (const { file, sql } of audits) await checkJobSql(database, file, sql);
  return ordered;
}

/**
 * Orders views so that each comes after those that its SQL names. In another order DuckDB would read the view that a former publish
 * left under the name. Of views that name each other in a circle, one comes first and is refused. Pure.
 */
export function orderViews<T extends Pick<UserQuery, 'name' | 'sql'>>(views: readonly T[]): T[] {
  const ordered: T[] = [];
  const codeOf = new Map(views.map((view) => [view, withoutTexts(view.sql)]));
  const names = (view: T, other: T) =>
    view.name !== other.name && new RegExp(`\\b${other.name}\\b`, 'i').test(codeOf.get(view)!);
  let waiting = [...views];
  while (waiting.length > 0) {
    const free = waiting.filter((view) => !waiting.some((other) => names(view, other)));
    const next = free.length > 0 ? free : waiting.slice(0, 1);
    ordered.push(...next);
    waiting = waiting.filter((view) => !next.includes(view));
  }
  return ordered;
}

/** SQL without comments and string literals; quoted names stay. Pure. */
function withoutTexts(sql: string): string {
  return sql.replaceAll(
    /--[^\n]*|\/\*[\s\S]*?\*\/|\be'(?:[^'\\]|''|\\[\s\S])*'|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|"(?:[^"]|"")*"/gi,
    (found) => (found.startsWith('"') ? found : ' '),
  );
}

async function makeView(database: Database, { name, file, sql }: UserQuery, kind: string): Promise<void> {
  await checkJobSql(database, file, sql);
  // It is one SELECT, so nothing else can follow `as`.
  await database.run(`create or replace ${kind} ${quoteName(name)} as ${sql}`);
}

/** Names of the model's tables and views. */
function modelNames(): Set<string> {
  const tables = readTableSpecs().flatMap(({ name, history }) =>
    history ? [name, `${name}_history`] : [name],
  );
  return new Set([...tables, ...listSql('views')]);
}

function refuseTaken({ name, file }: UserQuery): void {
  if (!modelNames().has(name) && name !== auditView) return;
  throw new UsageError(
    `${file}: the model has a table or view ${name} already`,
    'Rename the file: a view is named by it.',
  );
}

const auditView = 'ledgerlake_audit';

/**
 * Runs audits, each for at most 60 s.
 * @param database the connection that `checkOwnSql` was given
 * @returns those that returned rows
 */
export async function runAudits(database: Database, audits: readonly UserAudit[]): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for (const audit of audits) {
    await makeView(database, { ...audit, name: auditView }, 'temp view');
    const rows = (await runJobSql(
      database,
      audit.file,
      `select to_json(a)::varchar as example, count(*) over () as rows from ${auditView} a limit 3`,
    )) as { example: string; rows: bigint }[];
    if (rows.length === 0) continue;
    const { name, severity, describe } = audit;
    const examples = rows.map(({ example }) => example);
    findings.push({ audit: name, severity, describe, rows: Number(rows[0]!.rows), examples });
  }
  return findings;
}

/** Lists the user's views in a build or snapshot. */
export async function listOwnViews(database: Database): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(
    `select view_name as name from duckdb_views()
    where database_name = current_database() and schema_name = 'main' and not internal and not temporary
    order by 1`,
  );
  const known = modelNames();
  return rows.flatMap(({ name }) => (known.has(name) ? [] : name));
}

/**
 * Replaces the user's views in the build.
 * @param ordered as `checkOwnSql` returned them
 */
export async function replaceOwnViews(database: Database, ordered: readonly UserQuery[]): Promise<void> {
  await database.transaction(async () => {
    for (const name of await listOwnViews(database)) await database.run(`drop view ${quoteName(name)}`);
    for (const view of ordered) {
      await database.run(`create view ${quoteName(view.name)} as ${view.sql}`).catch((error: Error) => {
        // It reads a view that the last publish made and that has no file any more.
        throw new UsageError(
          `${view.file}: ${error.message.split('\n')[0]}`,
          'Correct it, or remove it; then run `ledgerlake publish`.',
          { cause: error },
        );
      });
      await database.run(`comment on view ${quoteName(view.name)} is ${quoteText(view.describe)}`);
    }
  });
}

/** Whether a finding keeps the snapshot from being replaced. */
export function isError({ severity }: Pick<AuditFinding, 'severity'>): boolean {
  return severity === 'error';
}

/** A finding in one line, as the run log has it. */
export function describeFinding({ audit, severity, rows, describe, examples }: AuditFinding): string {
  return `audit ${audit} (${severity}): ${rows} ${rows === 1 ? 'row' : 'rows'}: ${describe}; for example ${examples.join(', ')}`;
}
