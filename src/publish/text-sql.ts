import { quoteName } from '../sql-text.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** The statements that keep `texts.<table>` (sql/texts.sql) consistent with the table, from `verdict`. */
export interface TextSql {
  /** Makes `replaced`, empty: the rows that are replaced from now on, each with its digest. */
  begin: string;
  /** In the slice's transaction: removes the digests that `add` adds, because each is stored once. */
  forget: string;
  /** In the slice's transaction: adds the texts that its rows were read from. */
  add: string;
  /** After the transaction: adds the rows that the slice replaced to `replaced`. $slice: its number. */
  note: string;
  /** At the end: removes former texts of these rows, which load would take for known. */
  forgetReplaced: string;
  /** Selects the staging files of $files with unrecognised rows. */
  unrecognised: string;
}

export function textSql({ name, key }: TableSpec): TextSql {
  const keys = key.map(quoteName).join(', ');
  const texts = `texts.${name}`;
  return {
    begin: `create or replace temp table replaced as
      select ${keys}, null::uuid as digest, null::bigint as slice from ${name} where false`,
    forget: `delete from ${texts} where digest in (select text_digest from verdict)`,
    add: `insert into ${texts} by name
      select text_digest as digest, ${keys}, text_carried as carried, text_own_slot as own_slot,
        text_final as final, text_row_hash as row_hash
      from verdict where text_digest is not null`,
    note: `insert into replaced
      select ${keys}, text_digest, $slice from verdict where rewritten and target is not null`,
    forgetReplaced: `delete from ${texts} using (
        select ${keys}, max_by({'digest': digest}, slice).digest as kept from replaced group by ${keys}
      ) r
      where ${key.map((column) => `${texts}.${quoteName(column)} = r.${quoteName(column)}`).join(' and ')}
        and ${texts}.digest is distinct from r.kept`,
    unrecognised: `select distinct filename
      from read_parquet($files, filename = true)
      semi join (from verdict where unrecognised) v using (${keys})
      where row_hash is not null`,
  };
}

/** Forgets the texts of a table, so that its records are read again. */
export function forgetTextsSql({ name }: TableSpec): string {
  return `delete from texts.${name}`;
}
