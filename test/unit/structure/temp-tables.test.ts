import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** `name made by file` of every temporary table that a statement makes. */
function madeTables(): Set<string> {
  const files = ['sql', 'src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  const made = files
    .filter((file) => /\.(sql|ts)$/.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(join(root, file), 'utf8').matchAll(/create or replace temp (?:table|view) (\w+)/g),
      ].map(([, name]) => `${name} made by ${file}`),
    );
  return new Set(made);
}

/** The same of the rows in sql/TEMP-TABLES.md. */
function describedTables(): Set<string> {
  const text = readFileSync(join(root, 'sql/TEMP-TABLES.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)`[^|]*\|[^|]*\|([^|]*)\|/gm)];
  return new Set(
    rows.flatMap(([, name, makers = '']) =>
      [...makers.matchAll(/`([^`]+)`/g)].map(([, file]) => `${name} made by ${file!}`),
    ),
  );
}

test('sql/TEMP-TABLES.md says what every temporary table holds, and where it is made', () => {
  const made = madeTables();
  expect(made.size).toBeGreaterThan(40);
  expect([...describedTables()].sort()).toEqual([...made].sort());
});

test('sql/TEMP-TABLES.md lists a name once in each stage', () => {
  const stages = readFileSync(join(root, 'sql/TEMP-TABLES.md'), 'utf8').split(/^## /m).slice(1);
  const repeated = stages.flatMap((stage) => {
    const names = [...stage.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
    return names
      .filter((name, n) => names.indexOf(name) < n)
      .map((name) => `${name}: ${stage.split('\n')[0]}`);
  });
  expect(stages.length).toBeGreaterThan(5);
  expect(repeated).toEqual([]);
});
