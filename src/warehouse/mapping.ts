import { createHash } from 'node:crypto';
import type { Database } from './database.ts';
import { hasSql, listFolders, listSql, readSql } from './sql-text.ts';

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
    listFolders('shapes').filter((shape) => !known.has(shape)),
  );
}

/** SHA-256 of the files that make rows of a shape's records, without comments and white space. A shape that is gone: ''. */
function digestOf(shape: string): string {
  if (!listFolders('shapes').includes(shape)) return '';
  const structure = `shapes/${shape}/record.json`;
  const files = [
    'digests.sql',
    'macros.sql',
    'landing.sql',
    ...listSql('shapes').map((name) => `shapes/${name}.sql`),
    ...listSql(`shapes/${shape}`).map((name) => `shapes/${shape}/${name}.sql`),
    ...(hasSql(structure) ? [structure] : []),
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0${plain(readSql(file))}\0`);
  return hash.digest('hex');
}

function plain(sql: string): string {
  return sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim();
}
