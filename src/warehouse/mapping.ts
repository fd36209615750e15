import { createHash } from 'node:crypto';
import { mappingSql } from '../model/mapping-sql.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from './database.ts';
import { listShapes } from './table-spec.ts';

/**
 * Lists shapes whose mapping differs from the recorded one, also those of which nothing is published yet, because rows in staging
 * were made by the former mapping.
 */
export async function listRemapped(build: Database): Promise<string[]> {
  const noted = await build.rows<{ shape: string; digest: string }>(
    'select shape, digest from meta.mappings order by shape',
  );
  return noted.flatMap(({ shape, digest }) => (digest === digestOf(shape) ? [] : shape));
}

/** Records, in the caller's transaction, that the rows of shapes were made by the present mapping in `sql/`. */
export async function recordMapping(build: Database, shapes: Iterable<string>): Promise<void> {
  const noted = [...shapes];
  await build.run('delete from meta.mappings where list_contains($noted, shape)', { noted });
  await build.run('insert into meta.mappings (shape, digest) select unnest($noted), unnest($digests)', {
    noted,
    digests: noted.map(digestOf),
  });
}

/** SHA-256 of all SQL that maps a shape's records to rows, without comments and white space; '' for a shape that does not exist any more. */
function digestOf(shape: string): string {
  if (!listShapes().includes(shape)) return '';
  const hash = createHash('sha256');
  for (const file of ['digests.sql', 'macros.sql']) hash.update(`${file}\0${plain(readSql(file))}\0`);
  for (const { model, macro, query } of mappingSql(shape))
    hash.update(`${model.name}\0${plain(macro)}\0${plain(query)}\0`);
  return hash.digest('hex');
}

function plain(sql: string): string {
  return sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
}
