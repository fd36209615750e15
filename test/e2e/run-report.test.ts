import { expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { environmentOf } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';

test('the report names the tables only where there are any', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 100);
  const env = environmentOf(sandbox);
  const crawled = await runProgram(['crawl'], { cwd: place.root, env });
  expect(crawled).toMatchObject({ code: 0, stdout: expect.not.stringContaining('show tables') });
  const ran = await runProgram(['run'], { cwd: place.root, env });
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('"show tables"') });
});
