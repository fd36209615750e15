import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/warehouse/database.ts';

test('an abort ends what the database is at, also when it comes between two statements', async () => {
  const long = 'select count(*) from range(1000000) a, range(100000) b where a.range * b.range = -1';
  // From the first statement to the last one, which goes on for minutes.
  for (let n = 0; n < 40; n += 1) {
    const stop = new AbortController();
    const options = { memoryLimit: '64MB', threads: 1, tempDir: tmpdir(), signal: stop.signal };
    const database = await openDatabase(':memory:', options);
    const work = database.run(`${'select 1; '.repeat(100)} ${long}`);
    const ended = Promise.race([work, sleep(5000, 'it goes on')]);
    setTimeout(() => stop.abort(new Error('stopped')), n / 2);
    await expect(ended, `${n / 2} ms`).rejects.toThrow('stopped');
    database.close();
  }
});
