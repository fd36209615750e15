import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Every call of a reader of DuckDB, every `attach`, and every `copy … to`, each with the beginning of what it gets. */
const paths =
  /\b(?:(?:read_(?:parquet|n?d?json|csv|text|blob)\w*|parquet_\w+|glob|sniff_csv)\(|(?:attach|\)\s+to)\s+(?=[$'"]))\s*(?<path>[^\s,)]*)/gi;

function pathsIn(sql: string): string[] {
  return [...sql.matchAll(paths)].map(
    ({ 0: call, groups }) => `${call.replace(/\s+/g, ' ')} <${groups!.path}>`,
  );
}

/** Parameters, which `database.ts` escapes where a reader gets them; in `attach` and `copy` quoted text, too. */
const isSafe = (call: string) => /<\$\w+>$/.test(call) || /^(?:attach|\)).*<\$\{quoteText\(/i.test(call);

test('every path that DuckDB gets is a parameter, or quoted where it is no pattern', () => {
  const files = ['sql', 'src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  const found = files
    .filter((file) => /\.(sql|ts)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8').replaceAll(/^\s*(?:--|\/?\*|\/\/).*$/gm, '');
      return pathsIn(text).map((call) => ({ file, call }));
    });
  expect(found.length).toBeGreaterThan(60);
  expect(found.filter(({ call }) => !isSafe(call))).toEqual([]);
});

test.each([
  "from read_parquet('a/*.parquet')",
  'from read_parquet([$files])',
  `from read_parquet(\${quoteText(file)})`,
  'from read_ndjson_objects(file)',
  "attach 'build.duckdb' as build",
  'copy (select 1) to "a.parquet" (format parquet)',
])('%s is refused', (sql) => {
  expect(pathsIn(sql).map(isSafe)).toEqual([false]);
});
