import { quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { keyText, readMemberLists, readRequestedRows } from '../warehouse/member-lists.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';

/** Rows that are updated in one transaction. */
const rowsPerSlice = 500_000;

/** The operations whose parameters say which rows they show: those of `sql/members/`, and look-ups of assets. */
export function operationsOf(table?: TableSpec): string[] {
  const listed = readMemberLists().filter((list) => table === undefined || list.table === table);
  const looksUpAssets = table === undefined || table.name === 'assets';
  return [
    ...listed.map(({ operation }) => operation),
    ...(looksUpAssets ? ['getAsset', 'getAssetBatch'] : []),
  ];
}

/**
 * Updates the column `followed` to the targets that jobs have now. Rows that were written have NULL there, so a night updates only
 * these; all rows are updated when the targets differ from those of the last time. After a kill the next run continues.
 */
export async function followRows(database: Database): Promise<void> {
  await database.run('create or replace temp table chosen_target as select job, target from meta.targets');
  const [targets] = await database.rows<{ digest: bigint | null; is_known: boolean }>(
    readSql('follow/digest.sql'),
  );
  const digest = (targets?.digest ?? 0n).toString();
  const isKnown = targets?.is_known ?? false;
  for (const spec of readTableSpecs().filter(({ followed }) => followed)) {
    const name = quoteText(spec.name);
    const upToDate = await database.rows(
      `from meta.followed where table_name = ${name} and digest = ${digest}::ubigint`,
    );
    const which = upToDate.length > 0 ? 'followed is null' : 'true';
    const [span] = await database.rows<{ first: bigint | null; last: bigint | null }>(
      `select min(rowid) as first, max(rowid) as last from ${spec.name} where ${which}`,
    );
    if (span?.first != null && span.last != null) {
      await database.run(readSql('follow/targets.sql'));
      for (let from = span.first; from <= span.last; from += BigInt(rowsPerSlice))
        await followSlice(database, spec, {
          which: `${which} and rowid >= ${from} and rowid < ${from + BigInt(rowsPerSlice)}`,
          otherwise: isKnown ? 'false' : 'null',
        });
    }
    if (upToDate.length > 0) continue;
    await database.transaction(async () => {
      await database.run(`delete from meta.followed where table_name = ${name}`);
      await database.run(`insert into meta.followed values (${name}, ${digest}::ubigint)`);
    });
  }
}

async function followSlice(
  database: Database,
  spec: TableSpec,
  { which, otherwise }: { which: string; otherwise: string },
): Promise<void> {
  const slice = `(select rowid as target, * from ${spec.name} where ${which})`;
  await retryWithMoreMemory(database, async () => {
    await database.run(`create or replace temp table shown_key as ${shownSql(spec, slice)}`);
    await database.run(`update ${spec.name} set followed = v.followed
      from (
        select t.target, if(s.key is null, ${otherwise}, true) as followed
        from ${slice} t left join shown_key s on s.key = ${keyText(spec, 't')}
      ) v
      where ${spec.name}.rowid = v.target and ${spec.name}.followed is distinct from v.followed`);
  });
}

/**
 * SQL of the keys that targets should show, after `follow/targets.sql`: those of lists among `rows`, and all that were requested by key.
 * @param rows a relation with the columns of the table
 */
export function shownSql(spec: TableSpec, rows: string): string {
  const lists = readMemberLists().filter(({ table }) => table === spec);
  const asked = readRequestedRows().filter(({ table }) => table === spec);
  return [...lists.map((list) => list.sql(rows)), ...asked.map(({ sql }) => sql)]
    .map((sql) => `select key from (${sql})`)
    .join(' union ');
}
