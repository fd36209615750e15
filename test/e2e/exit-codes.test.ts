import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { expectFailure } from '../chaos/crash/failure.ts';
import { type Ended, runProgram, type Started, startProgram, until } from '../support/program.ts';
import { makeProject, type Project, writeFiles } from '../support/project.ts';
import { RawReply, RpcError, type Script, startScriptedApi } from '../support/scripted-api.ts';

/** A place whose job `list` asks a scripted API for these collections. */
interface Ending {
  place: Project;
  env: Record<string, string>;
  url: string;
  answer(script: Script): void;
  asked(): number;
  /** Starts the program with these arguments. */
  start(...args: string[]): Started;
  run(...args: string[]): Promise<Ended>;
}

const collections = Array.from(
  { length: 8 },
  (_, n) => `CSJMp3LmxCDvjnxJSHGD3vUmzPtJ5nUc7JmBZWQqvr${n + 2}Y`,
);

/** A page of a list in the API's own form. */
const page = (items: readonly unknown[]) => ({
  last_indexed_slot: 100,
  total: items.length,
  limit: 1000,
  items,
});

/** A list of one page: the one after it is empty. */
const list =
  (items: readonly unknown[]): Script =>
  ({ params }) =>
    page((params.page ?? 1) === 1 && params.after === undefined ? items : []);

const asset = { id: '8JnNWJ46yfdq8sKgT1Lk4G7VWkAA8Rhh7LhqgJ6WY41G', interface: 'V1_NFT' };

async function openEnding(targets = 1): Promise<Ending> {
  const api = await startScriptedApi();
  onTestFinished(() => api.close());
  api.setScript(() => page([]));
  const place = await makeProject();
  await writeFiles(place.root, {
    'jobs/list.yaml': `describe: Some collections
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collections.slice(0, targets)}] } }
`,
    'ledgerlake.yaml': 'lake: { tables: [webhooks] }\n',
  });
  const env = { LEDGERLAKE_RPC_URL: api.url, LEDGERLAKE_API_KEY: 'key' };
  const start = (...args: string[]) => startProgram(args, { cwd: place.root, env });
  return {
    ...{ place, env, url: api.url, start },
    answer: api.setScript,
    asked: () => api.calls.length,
    run: (...args) => runProgram(args, { cwd: place.root, env }),
  };
}

const run = ({ run }: Ending) => run('run');

/** @param work done while a run waits for its first answer; `answer` gives it */
async function whileAtWork(
  ending: Ending,
  work: (first: Started, answer: () => void) => Promise<Ended>,
): Promise<Ended> {
  let answer = () => {};
  const waiting = new Promise<void>((resolve) => {
    answer = resolve;
  });
  ending.answer((call) => waiting.then(() => list([asset])(call)));
  const first = ending.start('run');
  onTestFinished(() => void first.child.kill('SIGKILL'));
  await until(() => ending.asked() > 0, first);
  return work(first, answer);
}

interface Kind {
  code: number;
  name: string;
  /** Of the two lines on stderr; null where it ends well. */
  message: RegExp | null;
  targets?: number;
  end(ending: Ending): Promise<Ended>;
}

const kinds: readonly Kind[] = [
  { code: 0, name: 'a complete run', message: null, end: run },
  {
    code: 1,
    name: 'a call that the API answers with an error',
    message: /Asset Not Found/,
    end: ({ answer, run }) => {
      answer(() => new RpcError(-32000, 'Asset Not Found'));
      return run('call', 'getAsset', '{"id":"CSJMp3LmxCDvjnxJSHGD3vUmzPtJ5nUc7JmBZWQqvr6Y"}');
    },
  },
  {
    code: 2,
    name: 'an option that is none',
    message: /no option is called "--untill", did you mean "--until"\?/,
    end: ({ run }) => run('run', '--untill', '5h'),
  },
  {
    code: 2,
    name: 'a duration that is none',
    message: /--until takes a duration, not "5 hours"\n {2}Durations are .*90s, 1h30m or 2d/,
    end: ({ run }) => run('run', '--until', '5 hours'),
  },
  {
    code: 2,
    name: 'a mistake in a job file',
    message: /list\.yaml:1: /,
    end: async ({ place, run }) => {
      await writeFile(join(place.jobs, 'list.yaml'), 'describe: none\n');
      return run('run');
    },
  },
  {
    code: 2,
    name: 'another origin than the folder is bound to',
    message: /holds data of http:\/\/127\.0\.0\.1:\d+, but the run would ask http:\/\/127\.0\.0\.1:1/,
    end: async ({ run, place, env }) => {
      await run('run');
      return runProgram(['run'], {
        cwd: place.root,
        env: { ...env, LEDGERLAKE_RPC_URL: 'http://127.0.0.1:1' },
      });
    },
  },
  {
    code: 3,
    name: 'one target that the API refuses',
    message: null,
    targets: 2,
    end: ({ answer, run }) => {
      answer(({ params }) =>
        params.groupValue === collections[0] ? new RpcError(-32602, 'Invalid params') : page([]),
      );
      return run('run');
    },
  },
  {
    code: 4,
    name: 'records that are none: not published',
    message: null,
    end: ({ answer, run }) => {
      answer(list(Array.from({ length: 60 }, (_, odd) => ({ odd }))));
      return run('run');
    },
  },
  {
    code: 5,
    name: 'a check that finds a target that is not complete',
    message: null,
    targets: 2,
    end: async ({ answer, run }) => {
      answer(({ params }) =>
        params.groupValue === collections[0] ? new RpcError(-32602, 'Invalid params') : page([]),
      );
      await run('run');
      return run('check');
    },
  },
  {
    code: 69,
    name: 'a mistyped host',
    message: /unreachable[\s\S]*Check the network and the URL/,
    end: ({ place, env }) =>
      runProgram(['run'], { cwd: place.root, env: { ...env, LEDGERLAKE_RPC_URL: 'http://127.0.0.1:1' } }),
  },
  {
    code: 69,
    name: 'credits that are gone',
    message: /out of credits[\s\S]*max usage reached/,
    end: ({ answer, run }) => {
      answer(() => new RpcError(-32429, 'max usage reached'));
      return run('run');
    },
  },
  {
    code: 69,
    name: 'an API that is down for good, with the last cause',
    message: /the API is down[\s\S]*, the last with HTTP 503: no backend/,
    targets: 8,
    end: ({ answer, run }) => {
      answer(() => new RawReply('no backend', 503));
      return run('run');
    },
  },
  {
    code: 74,
    name: 'a data folder below a file',
    message: /cannot write the data folder/,
    end: async ({ place, run }) => {
      await writeFile(join(place.root, 'file'), '');
      return run('run', '--data-dir', 'file/data');
    },
  },
  {
    code: 74,
    name: 'files removed while it runs',
    message: /is gone: something removed it while the program was at work/,
    end: (ending) =>
      whileAtWork(ending, async (first, answer) => {
        await rm(join(ending.place.data, 'staging'), { recursive: true });
        answer();
        return first.ended;
      }),
  },
  {
    code: 74,
    name: 'a changed byte in the landing log',
    message: /pages\.ndjson, line 1, is damaged: [\s\S]*doctor --repair/,
    end: async ({ answer, run, place }) => {
      answer(list([asset]));
      await run('crawl');
      const landing = join(place.data, 'landing');
      const name = (await readdir(landing)).find((file) => file.endsWith('.pages.ndjson')) as string;
      const text = await readFile(join(landing, name), 'utf8');
      await writeFile(join(landing, name), text.replace('"list"', '"lost"'));
      return run('run');
    },
  },
  {
    code: 75,
    name: 'a budget of requests',
    message: /--max-requests 0 is reached/,
    end: ({ run }) => run('run', '--max-requests', '0'),
  },
  {
    code: 75,
    name: 'a time that is over',
    message: /the time given by --until is over/,
    end: ({ answer, run }) => {
      answer((call) => sleep(1500).then(() => list([asset])(call)));
      return run('run', '--until', '1s');
    },
  },
  {
    code: 75,
    name: 'a signal',
    message: /stopped by SIGTERM/,
    end: (ending) =>
      whileAtWork(ending, (first) => {
        first.child.kill('SIGTERM');
        return first.ended;
      }),
  },
  {
    code: 75,
    name: 'another run that holds the lock',
    message: /another run is using this data folder/,
    end: (ending) => whileAtWork(ending, () => ending.run('run')),
  },
  {
    code: 77,
    name: 'a key that the API refuses',
    message: /refused the key/,
    end: ({ answer, run }) => {
      answer(() => new RawReply('{"error":"invalid api key"}', 401));
      return run('run');
    },
  },
];

test.each(kinds)('$code: $name', async ({ code, message, targets, end }) => {
  const ended = await end(await openEnding(targets));
  if (message !== null) expectFailure(ended, code, message);
  else expect(ended.code, ended.stderr).toBe(code);
});

test('every row of the reference is an ending above', async () => {
  const text = await readFile(new URL('../../docs/reference/exit-codes.md', import.meta.url), 'utf8');
  const documented = [...text.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect([...new Set(kinds.map(({ code }) => code))]).toEqual(documented);
});

const readings = [['status'], ['sql', 'select 1'], ['load'], ['run', '--max-requests', '1.5']];

test.each(readings)('--json of a failed `%s` is one document', async (...args) => {
  const { run } = await openEnding();
  const { code, stdout, stderr } = await run(...args, '--json');
  const [, message, hint] = /ledgerlake: (.+)\n {2}(.+)\n$/.exec(stderr)!;
  expect(JSON.parse(stdout)).toEqual({ exitCode: code, error: { message, hint } });
});

test('--json of a run that finds the lock taken is one document', async () => {
  const ending = await openEnding();
  await whileAtWork(ending, async () => {
    const second = await ending.run('run', '--json');
    const stopped = { reason: expect.stringContaining('another run'), hint: expect.any(String) };
    expect(JSON.parse(second.stdout)).toEqual({ exitCode: 75, stopped });
    return second;
  });
});

test('rebuild where neither database is there makes them again: 0', async () => {
  const { answer, run, place } = await openEnding();
  answer(list([asset]));
  expect((await run('run')).code).toBe(0);
  for (const name of ['build.duckdb', 'warehouse.duckdb']) await rm(join(place.data, name));
  const rebuilt = await run('rebuild', '--json');
  expect(rebuilt.code, rebuilt.stderr).toBe(0);
  expect(JSON.parse(rebuilt.stdout)).toMatchObject({ segments: 1, rows: 1 });
  expect((await run('sql', '--format', 'csv', 'select id from assets')).stdout).toBe(`id\n${asset.id}\n`);
});

test('after 69 what was received is published, and the next run goes on', async () => {
  const { answer, run } = await openEnding(2);
  // The refusal comes when the other list has ended, with its second page, and that was written.
  let pages = 0;
  answer(async (call) => {
    if (call.params.groupValue === collections[0]) {
      pages += 1;
      return list([asset])(call);
    }
    await until(() => pages >= 2);
    await sleep(500);
    return new RpcError(-32429, 'max usage reached');
  });
  expect(await run('run', '--json')).toMatchObject({
    code: 69,
    stdout: expect.stringContaining('"done": 1'),
  });
  const count = ['sql', '--format', 'csv', 'select count(*) as n from assets'];
  expect((await run(...count)).stdout).toBe('n\n1\n');
  const asked: unknown[] = [];
  answer(({ params }) => {
    asked.push(params.groupValue);
    return page([]);
  });
  expect((await run('run')).code).toBe(0);
  expect(asked).toEqual([collections[1]]);
});
