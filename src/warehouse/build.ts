import { chmod, rename } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import { StoppedEarly, UsageError } from '../errors.ts';
import { listSql, readSql } from '../sql-text.ts';
import {
  type Database,
  type DatabaseOptions,
  isLockConflict,
  isMissingTable,
  openDatabase,
} from './database.ts';
import { recordMapping } from './mapping.ts';
import { listShapes, readTableSpecs, type TableSpec, withoutFollowed } from './table-spec.ts';

/**
 * Rows of a row group. Whole groups are compressed and written while rows are inserted, on all threads, so an insert holds few of
 * its rows in memory and its commit writes none of them to the log. A slice hardly fills one group of DuckDB's default, 122,880
 * rows (docs/adr/0001).
 */
export const rowGroupSize = 16_384;

/** Version of the tables and files of a data folder. A folder of another version is refused and left unchanged. */
export const schemaVersion = 5;

/**
 * Opens the pipeline's database. It is created on first use.
 * @throws UsageError when another version of ledgerlake made it; StoppedEarly when another program has it open; DiskError
 */
export async function openBuild(
  folder: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<Database> {
  const database = await openDatabase(folder.build, { ...options, rowGroupSize }).catch((error) => {
    if (!isLockConflict(error)) throw error;
    throw new StoppedEarly(
      `another program has ${folder.build} open`,
      `Close it there; queries belong on ${folder.snapshot}, which may stay open during runs.`,
      { cause: error },
    );
  });
  try {
    await chmod(folder.build, 0o600);
    // Space freed by deletes is reused; merging half-empty row groups at every checkpoint costs more than it
    // saves. A slice is checkpointed by hand, so the log never triggers one in the middle (docs/adr/0001).
    await database.run(`set max_vacuum_tasks = 0; set checkpoint_threshold = '4GB';`);
    await createSchema(database);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/**
 * Creates every table, view and macro of the model in an empty database, in one transaction. @throws UsageError as checkVersion
 */
export async function createSchema(database: Database): Promise<void> {
  if ((await checkVersion(database)) !== null) return;
  await database.transaction(async () => {
    await database.run(readSql('meta.sql'));
    for (const spec of readTableSpecs()) {
      await database.run(spec.ddl);
      if (spec.history) await database.run(besideSql('history.sql', spec));
      if (spec.texts) await database.run(besideSql('texts.sql', spec));
    }
    for (const view of listSql('views')) await database.run(readSql(`views/${view}.sql`));
    await recordMapping(database, listShapes());
    await database.run('insert into meta.schema_version values ($version, version())', {
      version: schemaVersion,
    });
  });
}

/** The SQL of what accompanies a table: its history (`past.<table>`, `<table>_history`, macros), or its texts (`texts.<table>`). */
export function besideSql(file: 'history.sql' | 'texts.sql', spec: TableSpec): string {
  const { name, key, followed } = spec;
  const rows = followed ? `(select * ${withoutFollowed(spec)} from ${name})` : name;
  return readSql(file)
    .replaceAll('{table}', name)
    .replaceAll('{key}', key.join(', '))
    .replaceAll('{rows}', rows);
}

/**
 * Reads the schema version of a build or snapshot; null for an empty database.
 * @throws UsageError when another version of ledgerlake made it
 */
export async function checkVersion(database: Database): Promise<number | null> {
  const version = await readVersion(database);
  if (version === null || version === schemaVersion) return version;
  throw new UsageError(
    `this data folder was made by another version of ledgerlake (layout ${version}, this one has ${schemaVersion})`,
    'Install that version again, or name another folder with --data-dir. Nothing was changed.',
  );
}

async function readVersion(database: Database): Promise<number | null> {
  try {
    const [row] = await database.rows<{ version: number }>(
      'select max(version) as version from meta.schema_version',
    );
    return row?.version ?? null;
  } catch (error) {
    // Listing the tables first takes longer than most queries of a command.
    if (isMissingTable(error)) return null;
    throw error;
  }
}

/**
 * Binds a data folder to the API it is filled from, on first use.
 * @throws UsageError as checkSource
 */
export async function bindSource(
  database: Database,
  origins: Readonly<Record<string, string>>,
): Promise<void> {
  const bound = await checkSource(database, origins);
  for (const [transport, origin] of Object.entries(origins)) {
    if (!bound.has(transport))
      await database.run(
        'insert into meta.source (transport, origin, bound_at) values ($transport, $origin, now())',
        {
          transport,
          origin,
        },
      );
  }
}

/**
 * The origins by transport that a build or snapshot is bound to.
 * @throws UsageError when it is bound to another: production must not be filled with sample data, nor one API's
 *   data with another's
 */
export async function checkSource(
  database: Database,
  origins: Readonly<Record<string, string>>,
): Promise<ReadonlySet<string>> {
  const bound = await readSource(database);
  for (const [transport, origin] of Object.entries(origins)) {
    const first = bound.get(transport);
    if (first !== undefined && first !== origin) {
      throw new UsageError(
        `this data folder holds ${nameSource(first)}, but the run would ask ${origin === 'sandbox' ? 'the sample API' : origin}`,
        hintOfSource(transport, first, origin),
      );
    }
  }
  return new Set(bound.keys());
}

function nameSource(origin: string): string {
  return origin === 'sandbox' ? 'SAMPLE DATA' : `data of ${origin}`;
}

/** No URL can continue sample data. */
function hintOfSource(transport: string, first: string, origin: string): string {
  if (first === 'sandbox') return 'Remove the folder with its sample data, or name another with --data-dir.';
  const hint =
    'Set LEDGERLAKE_RPC_URL (and the other URLs) as in the run that filled it, or name another folder with --data-dir.';
  if (origin === 'sandbox') return hint;
  return `${hint} Check the spelling of LEDGERLAKE_${transport.toUpperCase()}_URL first. Where it is the same ledger at another URL: ledgerlake source move ${origin} --yes.`;
}

/** A move of the source to another URL. */
export interface SourceMove {
  transport: string;
  origin: string;
  run: string;
  /** ISO time. */
  at: string;
}

/**
 * Binds a folder to the new URL of its source, and forgets the cursors of gaps, which are the former provider's. Idempotent, also
 * in a build that is rebuilt.
 */
export async function moveSource(database: Database, moves: readonly SourceMove[]): Promise<void> {
  for (const { transport, origin, run, at } of moves) {
    const [bound] = await database.rows<{ moved_by: string | null }>(
      'select moved_by from meta.source where transport = $transport',
      { transport },
    );
    if (bound !== undefined && (bound.moved_by ?? '') >= run) continue;
    await database.transaction(async () => {
      await database.run('delete from meta.source where transport = $transport', { transport });
      await database.run(
        'insert into meta.source (transport, origin, bound_at, moved_by) values ($transport, $origin, $at::timestamptz, $run)',
        { transport, origin, at, run },
      );
      await database.run(`update meta.coverage set cursor = null where state = 'gap'`);
    });
  }
}

/** The origins by transport that a build or snapshot is bound to. */
export async function readSource(database: Database): Promise<Map<string, string>> {
  const rows = await database.rows<{ transport: string; origin: string }>(
    'select transport, origin from meta.source order by transport',
  );
  return new Map(rows.map(({ transport, origin }) => [transport, origin]));
}

/** Forgets the source of a folder in which nothing was ever published. The caller knows that nothing has landed. */
export async function unbindEmpty(database: Database): Promise<void> {
  await database.run('delete from meta.source where not exists (from meta.segments)');
}

/** Renames a file out of the way. @returns its new name, or null if there is no such file */
export async function setAside(path: string, now: Date): Promise<string | null> {
  const aside = `${path}.set-aside-${now.toISOString().replaceAll(':', '')}`;
  try {
    await rename(path, aside);
    return aside;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
