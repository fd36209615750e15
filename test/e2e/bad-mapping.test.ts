import { expect, test, vi } from 'vitest';
import { expectFailure } from '../crash/failure.ts';
import { environmentOf, runProgram } from '../crash/program.ts';
import { makeProgram } from './other-mapping.ts';
import { startTiny, writeListJob } from './tiny.ts';

// Whole runs of the program: on a busy machine several of them take longer than the default.
vi.setConfig({ testTimeout: 180_000 });

const file = 'asset/assets.sql';

test('a mapping that DuckDB cannot read: 2 with its line, before anything is asked', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const program = await makeProgram([[file, '\nfrom ', '\nform ']]);
  const ended = await runProgram(['run'], { place, env, program });
  expectFailure(ended, 2, /sql\/shapes\/asset\/assets\.sql:\d+: Parser Error: [\s\S]*Correct the mapping/);
  expect(sandbox.requests).toEqual([]);
  expect((await runProgram(['run'], { place, env })).code).toBe(0);
  const reloaded = await runProgram(['reload', 'assets'], { place, env, program });
  expectFailure(reloaded, 2, /sql\/shapes\/asset\/assets\.sql:\d+: Parser Error: /);
});

test('macros that DuckDB cannot read: 2, before anything is asked', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const program = await makeProgram([['asset-macros.sql', 'create', 'crate']]);
  const ended = await runProgram(['run'], { place, env: environmentOf(sandbox), program });
  expectFailure(ended, 2, /sql\/shapes\/asset-macros\.sql:\d+: Parser Error: /);
  expect(sandbox.requests).toEqual([]);
});

test('a column that the mapping does not have: 2, and with it the night goes on from what was received', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  const program = await makeProgram([[file, 'select\n', 'select\n  no_such_column,\n']]);
  expectFailure(
    await runProgram(['run'], { place, env, program }),
    2,
    /sql\/shapes\/asset\/assets\.sql:\d+: Binder Error: [\s\S]*nothing received is lost/,
  );
  const asked = sandbox.requests.length;
  const ended = await runProgram(['run'], { place, env });
  expect(ended.code, ended.stderr).toBe(0);
  expect(sandbox.requests.length - asked).toBe(0);
});
