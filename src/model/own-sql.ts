import { hasSql, readSql } from '../sql-text.ts';
import type { TableModel } from './table-model.ts';

/** What is written by hand of a mapping: `sql/shapes/<shape>/<table>.sql`, common table expressions between two steps. */
export interface OwnSql {
  file: string;
  /** The step that they read: `record`, `typed` (casts are done) or `mapped` (the rows with all their columns). */
  after: 'record' | 'typed' | 'mapped';
  /** The last of them, which the next step reads. */
  last: string;
  /** Lines with their numbers in the file. */
  lines: readonly { sql: string; line: number }[];
  /** `-- rows: usable`: another table quarantines the records that have no usable key. */
  usableOnly: boolean;
  /** `-- cast errors:` `none`, another table has them; or a column with a list of more. */
  errors: string | null;
}

/** The hand-written part for the records of one shape, of which the table may have none. */
export function readOwnSql({ name }: TableModel, shape: string): OwnSql | null {
  const file = `shapes/${shape}/${name}.sql`;
  if (!hasSql(file)) return null;
  const text = readSql(file);
  const word = (name: string) => new RegExp(`^-- ${name}: (.*)$`, 'm').exec(text)?.[1] ?? null;
  const after = word('after');
  if (after !== 'record' && after !== 'typed' && after !== 'mapped')
    throw new Error(`sql/${file}: its header needs "-- after: record", "typed" or "mapped"`);
  const lines = text.split('\n').map((sql, index) => ({ sql, line: index + 1 }));
  return {
    file,
    after,
    last: [...text.matchAll(/^(\w+) as \($/gm)].at(-1)?.[1] ?? after,
    lines: lines.filter(({ sql }) => sql.trim() !== '' && !sql.startsWith('--')),
    usableOnly: word('rows') === 'usable',
    errors: word('cast errors'),
  };
}
