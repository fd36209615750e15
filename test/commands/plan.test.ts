import { expect, test } from 'vitest';
import { environmentOf, runProgram, writeFiles } from '../crash/program.ts';
import { startTiny, writeListJob } from '../e2e/tiny.ts';

test('a job whose SQL reads what a job before it brings asks for at least what is known now', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox, 200);
  await writeFiles(place.jobs, {
    'owners.yaml': `
describe: The accounts of three owners
method: getTokenAccounts
after: [list]
for_each: { owner: { sql: select owner from assets where owner is not null group by 1 order by 1 limit 3 } }
`,
  });
  const plan = async (...args: string[]) => (await runProgram(['plan', ...args], { place })).stdout;
  expect(await plan()).toMatch(/owners: its targets are known when list has been published/);
  const ended = await runProgram(['run'], { place, env: environmentOf(sandbox) });
  expect(ended.code, ended.stderr).toBe(0);
  const text = await plan();
  expect(text).toMatch(/^list: \d+ tasks, about /);
  expect(text).toMatch(/owners: 3 tasks, at least \d+ requests, .*more for new targets that list will bring/);
  expect(text).toMatch(/total: \d+ tasks, at least /);
  expect(JSON.parse(await plan('--json'))).toMatchObject({
    unknown: ['owners'],
    jobs: [
      { job: 'list', growsWith: [] },
      { job: 'owners', growsWith: ['list'] },
    ],
  });
  expect(await plan('list')).toMatch(/total: \d+ tasks, about /);
});
