import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { expectFailure } from '../chaos/crash/failure.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';
import { makeProgram } from './other-mapping.ts';

const table = 'tables/assets.sql';
const name = '<- content.metadata.name ';
const lines = readFileSync(new URL(`../../sql/${table}`, import.meta.url), 'utf8').split('\n');
/** Where the program says that the mistake is: the column's own line. */
const at = `sql/tables/assets\\.sql:${lines.findIndex((line) => line.includes(name)) + 1}: `;

test('a mapping that DuckDB cannot read: 2 with its line, before anything is asked', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const program = await makeProgram([['shapes/asset/assets.sql', 'from typed', 'form typed']]);
  const ended = await runProgram(['run'], { cwd: place.root, env, program });
  expectFailure(ended, 2, /sql\/shapes\/asset\/assets\.sql:\d+: Parser Error: [\s\S]*Correct the mapping/);
  expect(sandbox.requests).toEqual([]);
  expect((await runProgram(['run'], { cwd: place.root, env })).code).toBe(0);
  const reloaded = await runProgram(['reload', 'assets'], { cwd: place.root, env, program });
  expectFailure(reloaded, 2, /sql\/shapes\/asset\/assets\.sql:\d+: Parser Error: /);
});

test.each([
  ['= upper(r.content.metadata.name ', 'Parser Error: '],
  ['loud <- content.metadata.name ', 'unknown mark "loud"'],
])('a column of which the line is wrong (%s): 2 with that line', async (wrong, error) => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const program = await makeProgram([[table, name, wrong]]);
  const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox), program });
  expectFailure(ended, 2, new RegExp(`${at}${error}`));
  expect(sandbox.requests).toEqual([]);
});

test('macros that DuckDB cannot read: 2, before anything is asked', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const program = await makeProgram([['macros.sql', 'create', 'crate']]);
  const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox), program });
  expectFailure(ended, 2, /sql\/macros\.sql:\d+: Parser Error: /);
  expect(sandbox.requests).toEqual([]);
});

test('a column that the mapping does not have: 2, and with it the night goes on from what was received', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const program = await makeProgram([[table, name, '= no_such_column ']]);
  expectFailure(
    await runProgram(['run'], { cwd: place.root, env, program }),
    2,
    new RegExp(`${at}Binder Error: [\\s\\S]*nothing received is lost`),
  );
  const asked = sandbox.requests.length;
  const ended = await runProgram(['run'], { cwd: place.root, env });
  expect(ended.code, ended.stderr).toBe(0);
  expect(sandbox.requests.length - asked).toBe(0);
});
