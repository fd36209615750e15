import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { environmentOf, writeFiles } from '../support/project.ts';
import { openTinyWorld } from '../support/small-world.ts';

test('what shrinks is said: targets that left a file, and a job whose file is gone, until that is accepted or they are back', async () => {
  const { sandbox, place } = await openTinyWorld();
  const collections = sandbox.world.truth().collections();
  const [creator] = sandbox.world.truth().creators();
  const list = (targets: readonly string[]) => writeFiles(place.jobs, { 't.txt': targets.join('\n') });
  const job = (text: string) => `describe: test\n${text}\n`;
  await list(collections);
  await writeFiles(place.jobs, {
    'list.yaml': job(
      'method: getAssetsByGroup\nparams: {groupKey: collection}\nfor_each: {groupValue: {file: t.txt}}',
    ),
    'made.yaml': job(`method: getAssetsByCreator\nparams: {creatorAddress: ${creator}}`),
    'late.yaml': job(
      'method: getTokenAccounts\nafter: [list]\nfor_each: {owner: {sql: select min(owner) as owner from assets}}',
    ),
  });
  const cli = (...args: string[]) => runProgram(args, { cwd: place.root, env: environmentOf(sandbox) });
  const findings = async () => {
    const { code, stdout } = await cli('check', '--json');
    const found = JSON.parse(stdout).findings.map(({ kind, job }: Record<string, string>) => [kind, job]);
    return { code, found };
  };
  expect(await cli('run')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('any more') });
  expect(await findings()).toEqual({ code: 0, found: [] });

  const [kept, ...left] = collections as [string, ...string[]];
  await list([kept]);
  await rm(join(place.jobs, 'made.yaml'));
  const shrunk = await cli('run');
  expect(shrunk.stdout).toContain(
    `list: ${left.length} targets with rows are not requested any more: ${left[0]}`,
  );
  expect(shrunk.stdout).toMatch(
    /made: 1 target with rows is not requested any more; if that is right: .* --accept d/,
  );
  expect(await findings()).toEqual({
    code: 5,
    found: [
      ['dropped', 'list'],
      ['dropped', 'made'],
    ],
  });

  // One accepts what it showed; the other comes back.
  const [, id] = /made: .*--accept (d\w+)/.exec(shrunk.stdout) as unknown as [string, string];
  const accept = () => cli('publish', '--accept', id);
  expect((await accept()).code).toBe(0);
  expect(await findings()).toEqual({ code: 5, found: [['dropped', 'list']] });
  expect((await accept()).code).toBe(0);
  await list(collections);
  expect((await cli('run')).code).toBe(0);
  expect(await findings()).toEqual({ code: 0, found: [] });
  expect(await cli('run', '--accept', 'd00000000')).toMatchObject({ code: 2 });
});
