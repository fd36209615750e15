import type { DataFolder } from '../data-folder.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { type Group, listGroups, stagedHash } from '../warehouse/row-groups.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { measureStaged, namesOf, takeSlice } from './slices.ts';

/** Memory to plan for a row that is compared, bytes: its hashes and slots, and the hash of its key. */
const bytesPerRow = 160;

/**
 * Makes the tables that the guards `vanished`, `blank`, `collapse` and `stale` read, from the ready crawls, by job and table:
 * - `blank_count`: columns that would become NULL, in how many rows (`rows`) of those that have them (`total`)
 * - `collapse_count`: steady columns that would take one value, in most rows (`rows`) of those that have them (`total`)
 * - `burnt_row`: living rows that would be burnt, by the job that brought them, or that missed the row which a look-up found burnt
 * - `missing_count`: required columns that no record has
 * - `older_count`, by crawl: records older than the stored row, and those of them that are older by more slots than a replica lags
 *   (`far_rows`)
 *
 * Only what can be wrong is read: a column without a NULL in the staged files empties nothing, and a row with the stored row's hash,
 * or of a known text, has not changed.
 */
export async function countChanges(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(`
    create or replace temp table blank_count (
      job varchar, table_name varchar, column_name varchar, steady boolean, rows bigint, total bigint, examples varchar[]
    );
    create or replace temp table collapse_count (
      job varchar, table_name varchar, column_name varchar, value varchar, rows bigint, total bigint, examples varchar[]
    );
    create or replace temp table burnt_row (crawl_row bigint, job varchar, table_name varchar, key varchar);
    create or replace temp table missing_count (
      job varchar, table_name varchar, column_name varchar, rows bigint, examples varchar[]
    );
    create or replace temp table older_count (
      task varchar, crawl varchar, job varchar, table_name varchar, rows bigint, far_rows bigint, examples varchar[]
    );`);
  for (const spec of readTableSpecs()) {
    const files = listFiles(folder, spec, staged);
    if (files.length === 0) continue;
    const nulls = await countNulls(database, spec, files);
    await countMissing(database, spec, files, nulls);
    if (spec.publish !== 'merge') continue;
    // A table without rows, on a first night, has none to change.
    if ((await database.rows(`select 1 from ${spec.name} limit 1`)).length === 0) continue;
    const groups = listGroups(spec, await listColumns(database, spec.name));
    await compareRows(database, spec, groups, files);
    await countOlder(database, spec);
    await findBurnt(database, spec, groups, files);
    await countBlank(database, spec, groups, files, nulls);
    await countCollapsed(database, spec, groups, files);
  }
}

/**
 * The most NULLs that each column of staging files can have, by the files' footers; for a list, the least of its members'. Rows of
 * known texts, which have no values (`knownRowsSql`), do not count.
 */
async function countNulls(
  database: Database,
  { texts, key, final }: TableSpec,
  files: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.rows<{ name: string; nulls: number; values: number }>(
    `select split_part(path, ', ', 1) as name, min(nulls)::double as nulls, min(values - nulls)::double as values
    from (
      select path_in_schema as path, sum(coalesce(stats_null_count, num_values)) as nulls, sum(num_values) as values
      from parquet_metadata($files) group by all
    )
    group by all`,
    { files },
  );
  const knownTexts = texts ? (rows.find(({ name }) => name === 'row_hash')?.values ?? 0) : 0;
  const withoutValue = (name: string) => (name === final || key.includes(name) ? 0 : knownTexts);
  return new Map(rows.map(({ name, nulls }) => [name, nulls - withoutValue(name)]));
}

/** The least number of rows of which all, or most, are too many. */
async function fewRows(database: Database): Promise<number> {
  const [row] = await database.rows<{ few: number }>('select few_rows::double as few from threshold');
  return row?.few ?? 0;
}

async function countMissing(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
  nulls: ReadonlyMap<string, number>,
): Promise<void> {
  const few = await fewRows(database);
  for (const column of spec.required.filter((name) => (nulls.get(name) ?? 0) >= few))
    await database.run(
      `insert into missing_count
      select job, $table, $column, count(*), min(${keyText(spec, 's')}, 3)
      from read_parquet($files) s
      join (select task, crawl, job from ready) using (task, crawl)
      where ${spec.key.map((name) => `s.${quoteName(name)} is not null`).join(' and ')}
      group by job
      having count(s.${quoteName(column)}) = 0 ${spec.texts ? 'and count(s.row_hash) = 0' : ''}`,
      { table: spec.name, column, files },
    );
}

/**
 * Makes `compared`: staged rows whose key the table has, and that are older than the stored row or differ from it, by job and
 * position in the files. In slices of files, because the hashes of all their keys are in memory.
 */
async function compareRows(
  database: Database,
  spec: TableSpec,
  groups: readonly Group[],
  files: readonly string[],
): Promise<void> {
  const flags = groups.map(({ name }) => `differs_${name} boolean`);
  await database.run(
    `create or replace temp table compared (
      crawl_row bigint, job varchar, target bigint, file varchar, file_row_number bigint, older boolean, slots bigint, ${flags.join(', ')}
    )`,
  );
  const sql = compareSql(spec, groups);
  for (let remaining = await measureStaged(database, files); remaining.length > 0; ) {
    const slice = takeSlice(remaining, database.memoryBytes / bytesPerRow);
    await retryWithMoreMemory(database, () => database.run(sql, { files: namesOf(slice) }));
    remaining = remaining.slice(slice.length);
  }
}

/**
 * Adds a slice to `compared`. A later crawl from earlier slots is older; other values in an equal or newer one are a change. A record's
 * own slot, at which it was indexed, may be below the row's, so the crawl's slots say where the source is.
 */
function compareSql(spec: TableSpec, groups: readonly Group[]): string {
  const staged = groups.flatMap((group) => [
    `${group.carried} as carried_${group.name}`,
    `${stagedHash(group)} as hash_${group.name}`,
    `${group.slot} as slot_${group.name}`,
  ]);
  const stored = groups.flatMap((group) => [
    `${group.hash} as hash_${group.name}`,
    `${group.slot} as slot_${group.name}`,
    `${group.seenAt} as seen_${group.name}`,
  ]);
  const differs = groups.map(
    ({ name }) => `(s.carried_${name} and t.seen_${name} is not null
        and coalesce(s.slot_${name} >= t.slot_${name}, s.answered_at > t.seen_${name})
        ${spec.texts ? 'and s.row_hash is null' : ''}
        and s.hash_${name} is distinct from t.hash_${name}) as differs_${name}`,
  );
  return `
    insert into compared
    select r.crawl_row, r.job, t.target, s.filename, s.file_row_number,
      coalesce(greatest(s.slot_base, r.max_slot) < t.slot_base and s.answered_at > t.seen_base, false)
        and not r.is_unchanged as older,
      t.slot_base - greatest(s.slot_base, r.max_slot),
      ${differs.join(',\n      ')}
    from (
      select task, crawl, filename, file_row_number, seen_at as answered_at, ${keyHash(spec)} as key_hash, ${spec.texts ? 'row_hash, ' : ''}${staged.join(', ')}
      from read_parquet($files, file_row_number = true, filename = true)
    ) s
    join (
      select rowid as crawl_row, task, crawl, job, max_slot, end_reason is not distinct from 'unchanged' as is_unchanged from ready
    ) r using (task, crawl)
    join (select rowid as target, ${keyHash(spec)} as key_hash, ${stored.join(', ')} from ${spec.name}) t using (key_hash)
    where older or ${differsAny(groups)}`;
}

async function countOlder(database: Database, spec: TableSpec): Promise<void> {
  const [row] = await database.rows('from compared where older limit 1');
  if (row === undefined) return;
  await database.run(
    `insert into older_count
    select r.task, r.crawl, r.job, $table, count(*), count(*) filter (where c.slots > h.lag_slots), min(t.key, 3)
    from compared c
    join (select rowid as crawl_row, task, crawl, job from ready) r using (crawl_row)
    join (select rowid as target, ${keyText(spec, 't')} as key from ${spec.name} t) t using (target)
    cross join threshold h
    where c.older
    group by r.task, r.crawl, r.job`,
    { table: spec.name },
  );
}

async function findBurnt(
  database: Database,
  spec: TableSpec,
  groups: readonly Group[],
  files: readonly string[],
): Promise<void> {
  if (spec.final === null) return;
  await database.run(
    `insert into burnt_row
    select distinct c.crawl_row, coalesce(a.job, c.job), $table, t.key
    from (from compared where ${differsAny(groups)}) c
    join (
      select filename as file, file_row_number from read_parquet($files, file_row_number = true, filename = true)
      where not (${spec.living})
    ) s using (file, file_row_number)
    join (select rowid as target, ${keyText(spec, 't')} as key from ${spec.name} t where ${spec.living}) t using (target)
    left join meta.absent a on a.table_name = $table and a.key = t.key and c.job = '_confirm'`,
    { table: spec.name, files },
  );
}

/** A column that may become NULL. */
interface Candidate {
  column: string;
  group: Group;
  /** SQL condition that a value, given as SQL, is NULL or an empty list. */
  isBlank(name: string): string;
}

async function countBlank(
  database: Database,
  spec: TableSpec,
  groups: readonly Group[],
  files: readonly string[],
  nulls: ReadonlyMap<string, number>,
): Promise<void> {
  const minRows = (await fewRows(database)) / 2;
  const differs = differsAny(groups);
  const [changed] = await database.rows<{ n: number }>(
    `select count(*)::double as n from compared where ${differs}`,
  );
  if ((changed?.n ?? 0) < minRows) return;
  const candidates = (await listCandidates(database, spec, groups)).filter(
    ({ column }) => (nulls.get(column) ?? Number.POSITIVE_INFINITY) >= minRows,
  );
  if (candidates.length === 0) return;
  await retryWithMoreMemory(database, () => database.run(blankSql(spec, candidates, differs), { files }));
  const found = await database.rows<{ column_name: string }>(
    'select column_name from blank_found group by column_name having sum(rows) >= $minRows',
    { minRows },
  );
  const emptied = candidates.filter(({ column }) => found.some(({ column_name }) => column_name === column));
  for (const candidate of emptied)
    await retryWithMoreMemory(database, () => database.run(totalSql(spec, candidate), { files }));
}

/** Columns whose NULLs count: not those that change in place, nor `extra` and its parts. */
async function listCandidates(
  database: Database,
  spec: TableSpec,
  groups: readonly Group[],
): Promise<Candidate[]> {
  const parts = new Set(['extra', ...spec.volatile, ...[...spec.joined.values()].flat()]);
  const types = await database.rows<{ name: string; type: string }>(
    `select name, type from pragma_table_info('main.' || $table)`,
    { table: spec.name },
  );
  const isList = (column: string) => types.find(({ name }) => name === column)?.type.endsWith('[]') === true;
  return groups.flatMap((group) =>
    group.columns
      .filter((column) => !parts.has(column))
      .map((column) => ({
        column,
        group,
        isBlank: (name) => (isList(column) ? `coalesce(len(${name}), 0) = 0` : `${name} is null`),
      })),
  );
}

/** Makes `blank_found`: by job and column, the rows that have the column now and would lose it. */
function blankSql(spec: TableSpec, candidates: readonly Candidate[], differs: string): string {
  const blanks = (alias: string) =>
    candidates.map(({ column, isBlank }, n) => `${isBlank(`${alias}.${quoteName(column)}`)} as blank_${n}`);
  const counts = candidates.map(({ column, group }, n) => {
    const empties = `filter (where c.differs_${group.name} and s.blank_${n} and not t.blank_${n})`;
    return `{'column': ${quoteText(column)}, 'rows': count(distinct c.target) ${empties}, 'examples': min(t.key, 3) ${empties}}`;
  });
  return `
    create or replace temp table blank_found as
    select job, counted.column as column_name, counted.rows as rows, counted.examples as examples
    from (
      select c.job, unnest([${counts.join(',\n        ')}]) as counted
      from (from compared where ${differs}) c
      join (
        select filename as file, file_row_number, ${spec.living} as lives, ${blanks('w').join(', ')}
        from read_parquet($files, file_row_number = true, filename = true) w
        ${spec.texts ? 'where row_hash is null' : ''}
      ) s using (file, file_row_number)
      join (select rowid as target, ${keyText(spec, 't')} as key, ${blanks('t').join(', ')} from ${spec.name} t) t using (target)
      where s.lives
      group by c.job
    )`;
}

/** Adds a column to `blank_count`, with the number of each job's rows that have it. */
function totalSql(spec: TableSpec, { column, isBlank }: Candidate): string {
  return `
    insert into blank_count
    select job, ${quoteText(spec.name)}, ${quoteText(column)}, ${spec.steady.includes(column)}, coalesce(f.rows, 0), a.total, f.examples
    from (${jobRowsSql(spec, `not (${isBlank(`t.${quoteName(column)}`)})`)}) a
    left join (from blank_found where column_name = ${quoteText(column)}) f using (job)`;
}

/** SQL of how many rows (`total`) each job brings of those that meet a condition on the stored row. */
function jobRowsSql(spec: TableSpec, condition: string): string {
  return `
      select s.job, count(*) as total
      from (
        select distinct r.job, ${keyHash(spec)} as key_hash
        from read_parquet($files)
        join (select task, crawl, job from ready) r using (task, crawl)
      ) s
      join (select ${keyHash(spec)} as key_hash from ${spec.name} t where ${condition}) t using (key_hash)
      group by s.job`;
}

/**
 * Counts what the guard `collapse` compares, for the jobs most of whose records change the table; on most nights none does. Lists and
 * flags do not count: a collection changes its creators, or locks its assets, at once. Nor does a table without history, which keeps
 * answers of the moment: all proofs of a tree have one root.
 */
async function countCollapsed(
  database: Database,
  spec: TableSpec,
  groups: readonly Group[],
  files: readonly string[],
): Promise<void> {
  if (!spec.history) return;
  await database.run(`create or replace temp table changing_job as
    select job
    from (select job, count(*) as changed from compared where ${differsAny(groups)} group by job)
    join (select job, sum(records) as records from ready group by job) using (job)
    where changed >= (select h.rows from threshold h) and changed * 2 > records`);
  if ((await database.rows('from changing_job limit 1')).length === 0) return;
  for (const group of groups)
    for (const column of group.columns.filter((name) => canCollapse(spec, name)))
      await retryWithMoreMemory(database, () => database.run(collapseSql(spec, group, column), { files }));
}

function canCollapse({ steady, types }: TableSpec, column: string): boolean {
  return steady.includes(column) && !/\[\]$|^boolean$/i.test(types.get(column) ?? '');
}

/** Adds to `collapse_count` the values that more than half of a job's rows would take in a column. */
function collapseSql(spec: TableSpec, { name: group }: Group, column: string): string {
  const value = quoteName(column);
  return `
    insert into collapse_count
    select job, ${quoteText(spec.name)}, ${quoteText(column)}, taken.value, taken.rows, a.total, taken.examples
    from (
      select c.job, s.value::varchar as value, count(distinct c.target) as rows, min(t.key, 3) as examples
      from (from compared semi join changing_job using (job)) c
      join (
        select filename as file, file_row_number, ${value} as value
        from read_parquet($files, file_row_number = true, filename = true)
        where ${value} is not null and ${spec.living}
      ) s using (file, file_row_number)
      join (select rowid as target, ${keyText(spec, 't')} as key, ${value} as value from ${spec.name} t where ${value} is not null) t using (target)
      where c.differs_${group} and s.value <> t.value
      group by all
      having count(distinct c.target) >= (select h.rows from threshold h)
    ) taken
    join (${jobRowsSql(spec, `t.${value} is not null`)}) a using (job)
    where taken.rows * 2 > a.total`;
}

/** Condition on `compared` that a row differs in any group. */
function differsAny(groups: readonly Group[]): string {
  return groups.map(({ name }) => `differs_${name}`).join(' or ');
}

function keyHash(spec: TableSpec): string {
  return `hash(${spec.key.map(quoteName).join(', ')})`;
}

function keyText(spec: TableSpec, row: string): string {
  return `concat_ws('/', ${spec.key.map((column) => `${row}.${quoteName(column)}`).join(', ')})`;
}
