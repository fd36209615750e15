import { quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { keyText, readAskedRows, readMemberLists } from '../warehouse/member-lists.ts';
import { retryWithMoreMemory } from '../warehouse/memory.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';

/** Rows that are looked at in one transaction. */
const rowsPerSlice = 500_000;

/** The operations whose rows can be told by key from what was asked: those of `sql/members/`, and look-ups of assets. */
export function operationsOf(table?: TableSpec): string[] {
  const listed = readMemberLists().filter((list) => table === undefined || list.table === table);
  const asksAssets = table === undefined || table.name === 'assets';
  return [...listed.map(({ operation }) => operation), ...(asksAssets ? ['getAsset', 'getAssetBatch'] : [])];
}

/**
 * Brings the column `followed` up to the targets that jobs have now. A row that was written has NULL there, so a night looks
 * only at these; all rows are looked at when the targets are others than those that the column was made by. Killed in
 * between, the next run goes on.
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
    const made = await database.rows(
      `from meta.followed where table_name = ${name} and digest = ${digest}::ubigint`,
    );
    const which = made.length > 0 ? 'followed is null' : 'true';
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
    if (made.length > 0) continue;
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
 * The keys that targets should show among some rows, after `follow/targets.sql`.
 * @param rows relation with the columns of the table; keys that were asked for by name stand for themselves
 */
export function shownSql(spec: TableSpec, rows: string): string {
  const lists = readMemberLists().filter(({ table }) => table === spec);
  const asked = readAskedRows().filter(({ table }) => table === spec);
  return [...lists.map((list) => list.sql(rows)), ...asked.map(({ sql }) => sql)]
    .map((sql) => `select key from (${sql})`)
    .join(' union ');
}
