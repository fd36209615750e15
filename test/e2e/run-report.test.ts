import { expect, test } from 'vitest';
import { environmentOf, runProgram } from '../chaos/crash/program.ts';
import { startTiny, writeListJob } from './tiny.ts';

test('the report names the tables only where there are any', async () => {
  const { sandbox, place } = await startTiny();
  await writeListJob(place, sandbox, 100);
  const env = environmentOf(sandbox);
  const crawled = await runProgram(['crawl'], { place, env });
  expect(crawled).toMatchObject({ code: 0, stdout: expect.not.stringContaining('show tables') });
  const ran = await runProgram(['run'], { place, env });
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('"show tables"') });
});
