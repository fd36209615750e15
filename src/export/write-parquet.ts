import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import type { Database, SqlParams } from '../warehouse/database.ts';
import { countRows } from '../warehouse/parquet-rows.ts';
import type { Manifest } from './lake-manifest.ts';
import { type LakeColumn, type LakeLayout, lakeSelectList, type TableFacts } from './lake-table.ts';
import { parsePartition, partitionValue } from './partitions.ts';

/** One set to be written. */
interface SetToWrite {
  table: string;
  columns: readonly LakeColumn[];
  rows: number;
  layout: LakeLayout;
  /** Empty folder the files go to. */
  draft: string;
  id: string;
  /** Temporary folder for splitting rows into partitions; created if needed, and removed. */
  partitionsDir: string;
}

/** The folder of rows with NULL, as DuckDB and Hive name it. */
const nullFolder = '__HIVE_DEFAULT_PARTITION__';

/** Longest name of a partition's folder, bytes. File systems allow 255, some that encrypt names 143. */
const maxFolderBytes = 143;

/** Partitions written at once: each holds a buffer of about 2 MB, and a row group of its file. */
const partitionsAtOnce = 16;

/**
 * Writes a table's Parquet files. Their names have the export id, so a reader that lists a table while it changes finds
 * a file missing instead of mixing two sets.
 *
 * Measured on 0.5 M assets: zstd at level 1 takes a fifth less time than at DuckDB's own 3, for files 1 % larger. With
 * a limit of 256 MB on 1.5 M rows of 1 KB: row groups of the default size run out of memory; 16 MB of rows a group take
 * 2.6 s. Split by 1,000 values it runs out, whatever the flush threshold, because every partition that a few thousand
 * rows touch holds buffers; sorted first it runs out in the sort, from 1 M rows of 2 KB on, and where a few thousand
 * sorted rows still touch 100 partitions. So rows are split in rounds, each into at most 16 parts. On
 * one thread that gives one file per value.
 */
export async function writeFiles(database: Database, set: SetToWrite): Promise<void> {
  if (set.rows === 0) return;
  if (set.layout.partitionBy.length === 0) return writeWhole(database, set);
  await database.run('set partitioned_write_flush_threshold = 65536');
  await database.run(`set partitioned_write_max_open_files = ${partitionsAtOnce}`);
  try {
    await database.onOneThread(() => writePartitions(database, set));
  } finally {
    await rm(set.partitionsDir, { recursive: true, force: true });
  }
}

async function writeWhole(database: Database, { table, columns, layout, draft, id }: SetToWrite) {
  await database.run(
    `copy (select ${lakeSelectList(columns)} from ${quoteName(table)})
    to ${quoteText(draft)} (
      format parquet, compression zstd, compression_level 1, overwrite_or_ignore true, filename_pattern '${id}-{i}',
      file_size_bytes ${layout.fileBytes}, row_group_size 122880, row_group_size_bytes 16000000
    )`,
  );
}

/** Numbers the partitions from 0 in `part`, and writes every row with the number and the folder names of its partition. */
async function writePartitions(database: Database, set: SetToWrite): Promise<void> {
  const { table, columns, layout } = set;
  const partitions = layout.partitionBy.map(parsePartition);
  const names = partitions.map(({ name }) => quoteName(name));
  const values = partitions.map(
    (partition) => `${partitionValue(partition)} as ${quoteName(partition.name)}`,
  );
  await database.run(
    `create or replace temp table part as
    select row_number() over (order by ${names.join(', ')}) - 1 as part_number, *
    from (select distinct ${values.join(', ')} from ${quoteName(table)})`,
  );
  for (const name of names) await refuseUnnamable(database, table, name);
  const same = partitions.map(
    (partition, n) => `${partitionValue(partition, 't.')} is not distinct from p.${names[n]}`,
  );
  const inFiles = columns.filter(({ name }) => !partitions.some((partition) => partition.name === name));
  const from = `(
    select ${[lakeSelectList(inFiles, 't'), ...names.map((name) => `p.${name}`)].join(', ')}, p.part_number
    from ${quoteName(table)} t
    join part p on ${same.join(' and ')}
  )`;
  const [count] = await database.rows<{ n: bigint }>('select count(*) as n from part');
  const selected = [...inFiles.map(({ name }) => quoteName(name)), ...names].join(', ');
  await splitRows(database, { ...set, selected, names }, { from }, 0, Number(count!.n));
}

/** @throws UsageError for a value that no folder can be named by: NULL is named as Hive names it, and "" is nothing */
async function refuseUnnamable(database: Database, table: string, name: string): Promise<void> {
  const [row] = await database.rows<{ value: string }>(
    `select ${name} as value from part
    where ${name} in ('', ${quoteText(nullFolder)})
      or octet_length(encode(${quoteText(`${name.slice(1, -1)}=`)} || url_encode(${name}))) > ${maxFolderBytes}
    limit 1`,
  );
  if (row === undefined) return;
  throw new UsageError(
    `lake.partition_by: ${table}: no folder can be named by the value "${row.value.slice(0, 80)}" of ${name.slice(1, -1)}`,
    'Split it by another column: one of addresses, or day(…) of a time.',
  );
}

interface SplitSet extends SetToWrite {
  /** Columns of `rows`, quoted: those of the files, then those of the folders. */
  selected: string;
  /** Columns of the folders, quoted. */
  names: readonly string[];
}

/** What `from` selects of, with its parameters. */
interface Rows {
  from: string;
  params?: SqlParams;
}

/** Writes the partitions `low` to `high` (exclusive), whose rows are these: at once where they are few. */
async function splitRows(
  database: Database,
  set: SplitSet,
  { from, params }: Rows,
  low: number,
  high: number,
): Promise<void> {
  const { selected, names, draft, id, partitionsDir } = set;
  if (high - low <= partitionsAtOnce) {
    await database.run(
      `copy (select ${selected} from ${from}) to ${quoteText(draft)} (
        format parquet, compression zstd, compression_level 1, row_group_size 20480,
        overwrite_or_ignore true, filename_pattern '${id}-{i}', partition_by (${names.join(', ')})
      )`,
      params,
    );
    return;
  }
  const width = Math.ceil((high - low) / partitionsAtOnce);
  const dir = join(partitionsDir, `${low}-${high}`);
  await mkdir(dir, { recursive: true });
  await database.run(
    `copy (select ${selected}, part_number, (part_number - ${low}) // ${width} as part_bucket from ${from})
    to ${quoteText(dir)} (format parquet, partition_by (part_bucket), row_group_size 4096)`,
    params,
  );
  const bucketRows = 'read_parquet($files, hive_partitioning = false)';
  for (let first = low; first < high; first += width) {
    const bucket = join(dir, `part_bucket=${(first - low) / width}`);
    const files = (await readdir(bucket)).map((file) => join(bucket, file));
    await splitRows(
      database,
      set,
      { from: bucketRows, params: { files } },
      first,
      Math.min(first + width, high),
    );
    await rm(bucket, { recursive: true });
  }
}

/**
 * Reads back what was written and compares it with the table: rows and the exact sum of every u64 column.
 * @param paths of the files, relative to the draft
 * @returns the rows of each file
 * @throws Error when they differ: the set must not be published
 */
export async function verifyFiles(
  database: Database,
  draft: string,
  paths: readonly string[],
  facts: TableFacts,
): Promise<number[]> {
  const files = paths.map((path) => join(draft, path));
  if (files.length === 0 && facts.rows === 0) return [];
  const counts = await countRows(database, files);
  const rows = counts.reduce((sum, count) => sum + count, 0);
  if (rows !== facts.rows) throw new Error(`the Parquet files have ${rows} rows, the table ${facts.rows}`);
  if (rows > 0) await verifySums(database, files, facts.sums);
  return counts;
}

async function verifySums(
  database: Database,
  files: readonly string[],
  sums: Manifest['sums'],
): Promise<void> {
  const names = Object.keys(sums);
  if (names.length === 0) return;
  const [written] = await database.rows<Record<string, string>>(
    `select ${names.map((name, n) => `coalesce(sum(${quoteName(name)}), 0)::varchar as sum_${n}`).join(', ')}
    from read_parquet($files, hive_partitioning = false)`,
    { files },
  );
  for (const [n, name] of names.entries()) {
    if (written![`sum_${n}`] === sums[name]) continue;
    throw new Error(`the Parquet files sum ${name} to ${written![`sum_${n}`]}, the table to ${sums[name]}`);
  }
}
