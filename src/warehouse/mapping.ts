import { createHash } from 'node:crypto';
import { mappingSql } from '../model/shape-sql.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from './database.ts';
import { listShapes } from './table-spec.ts';

/**
 * Shapes whose mapping is another one now than the one that is noted, also those of which nothing is published yet: what
 * waits in staging is the former one's.
 */
export async function listRemapped(build: Database): Promise<string[]> {
  const noted = await build.rows<{ shape: string; digest: string }>(
    'select shape, digest from meta.mappings order by shape',
  );
  return noted.flatMap(({ shape, digest }) => (digest === digestOf(shape) ? [] : shape));
}

/** Notes, in the caller's transaction, that the rows of shapes are what the mapping in `sql/` makes of them now. */
export async function noteMapping(build: Database, shapes: Iterable<string>): Promise<void> {
  const noted = [...shapes];
  await build.run('delete from meta.mappings where list_contains($noted, shape)', { noted });
  await build.run('insert into meta.mappings (shape, digest) select unnest($noted), unnest($digests)', {
    noted,
    digests: noted.map(digestOf),
  });
}

/** Notes the mapping of shapes of which nothing is noted yet: of a new build, or one that an older version made. */
export async function noteNewShapes(build: Database): Promise<void> {
  const noted = await build.rows<{ shape: string }>('select shape from meta.mappings');
  const known = new Set(noted.map(({ shape }) => shape));
  await noteMapping(
    build,
    listShapes().filter((shape) => !known.has(shape)),
  );
}

/** SHA-256 of all SQL that makes rows of a shape's records, without comments and white space. A shape that is gone: ''. */
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
