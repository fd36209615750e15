import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readText } from '../config/yaml-file.ts';
import { UsageError } from '../errors.ts';

/** A view or an audit that the user wrote: a header of comments and one SELECT, in `views/` or `audits/` beside the jobs. */
export interface UserQuery {
  /** The file's name without `.sql`. */
  name: string;
  file: string;
  /** What the view holds, or the audit must not find. */
  describe: string;
  sql: string;
}

export interface UserAudit extends UserQuery {
  /** `error`: while it returns rows, the snapshot stays unchanged. `warn`: its rows are reported. */
  severity: 'error' | 'warn';
}

export interface UserSql {
  views: UserQuery[];
  audits: UserAudit[];
}

const queryName = /^[a-z][a-z0-9_]*$/;

/**
 * Reads `views/*.sql` and `audits/*.sql` beside a folder of jobs. The SQL is checked elsewhere (`checkOwnSql`), because that
 * needs the tables.
 * @returns null without a folder of jobs, because nobody can tell then whether there are any
 * @throws UsageError naming the file
 */
export async function readUserSql(jobsDir: string): Promise<UserSql | null> {
  if ((await listFiles(jobsDir)) === null) return null;
  const parent = dirname(resolve(jobsDir));
  const views = await readQueries(join(parent, 'views'));
  const audits = await readQueries(join(parent, 'audits'));
  return {
    views: views.map(({ header: _, ...view }) => view),
    audits: audits.map(({ header, ...audit }) => ({ ...audit, severity: readSeverity(audit.file, header) })),
  };
}

async function readQueries(folder: string): Promise<(UserQuery & { header: ReadonlyMap<string, string> })[]> {
  const queries = [];
  for (const fileName of ((await listFiles(folder)) ?? []).filter((name) => name.endsWith('.sql')).sort()) {
    const file = join(folder, fileName);
    const name = fileName.slice(0, -'.sql'.length);
    if (!queryName.test(name))
      throw new UsageError(
        `${file}: a view or audit is named by its file`,
        'Use a-z, 0-9 and _ in the name, with a letter first.',
      );
    const sql = await readText(file);
    const header = readHeader(sql);
    const describe = header.get('describe') ?? '';
    if (describe === '')
      throw new UsageError(
        `${file}: it does not say what it is`,
        'Begin the file with a line: -- describe: what it holds',
      );
    queries.push({ name, file, describe, sql, header });
  }
  return queries;
}

/** The `-- word: value` lines at the beginning of a file. Pure. */
function readHeader(sql: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of sql.split(/\r?\n/)) {
    if (!/^\s*(--.*)?$/.test(line)) break;
    const [, word, value] = /^-- *([a-z]+): *(.*?) *$/.exec(line) ?? [];
    if (word !== undefined && value !== undefined) fields.set(word, value);
  }
  return fields;
}

function readSeverity(file: string, header: ReadonlyMap<string, string>): UserAudit['severity'] {
  const severity = header.get('severity') ?? 'error';
  if (severity === 'error' || severity === 'warn') return severity;
  throw new UsageError(
    `${file}: there is no severity "${severity}"`,
    'Write -- severity: error (the snapshot stays as it was) or -- severity: warn (its rows are reported).',
  );
}

async function listFiles(folder: string): Promise<string[] | null> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new UsageError(`cannot read ${folder} (${error.code})`, 'Make it readable, or move it away.');
  });
}
