import { quoteName } from '../sql-text.ts';
import type { TableSpec } from './table-spec.ts';

/** The statements that keep `texts.<table>` (sql/texts.sql) as the table is, from `verdict`. */
export interface TextSql {
  /** Makes `replaced`: the rows that are written again from now on, each with its digest. */
  begin: string;
  /** In the slice's transaction: the texts that its rows are read from. A digest stands there once. */
  forget: string;
  add: string;
  /** After it: notes the rows that it wrote again. $slice: its number. */
  note: string;
  /** In the end: other texts of those rows. They count no more, but would be taken for known by load. */
  forgetReplaced: string;
  /** Staging files ($files) with rows that are unrecognised. */
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

/** Forgets the texts of a table: what its rows were read from is to be read again. */
export function forgetTextsSql({ name }: TableSpec): string {
  return `delete from texts.${name}`;
}
