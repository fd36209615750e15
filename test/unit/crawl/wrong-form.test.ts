import { describe, expect, test } from 'vitest';
import { listOperations } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import { newCrawl, newTask } from '../../support/crawl.ts';
import { put } from '../../support/scripted-list.ts';

/** Every operation of the JSON-RPC interface that a job can crawl, against answers of the wrong form. */
const operations = listOperations().filter(({ transport }) => transport === 'rpc');
const isList = ({ records }: Operation) => records.form !== 'single';

/** An answer with a value where the records belong. */
function withRecords({ records: { path } }: Operation, value: unknown): unknown {
  if (path.length === 0) return value;
  const answer = { last_indexed_slot: 100, context: { slot: 100 } };
  put(answer, path, value);
  return answer;
}

const wrong: Record<string, (operation: Operation) => unknown> = {
  'null as the result': () => null,
  'null for the records': (operation) => withRecords(operation, null),
  'null on the way to them': (operation) =>
    operation.records.path.length === 0
      ? null
      : withRecords(
          { ...operation, records: { ...operation.records, path: operation.records.path.slice(0, 1) } },
          null,
        ),
  'no member that holds them': (operation) =>
    operation.records.path.length === 0 ? 'rows' : { context: { slot: 100 } },
  'text for them': (operation) => withRecords(operation, '[]'),
  'a number for them': (operation) => withRecords(operation, 0),
  'the other form': ({ records, ...operation }) =>
    withRecords({ ...operation, records }, records.form === 'array' ? { rows: [] } : []),
};

const cases = operations.flatMap((operation) =>
  Object.entries(wrong)
    // Where one thing is asked for that may not exist, null is the answer that it does not.
    .filter(
      ([kind]) => !(operation.records.form === 'single' && operation.mayBeUnknown && kind.startsWith('null')),
    )
    .map(([kind, make]) => [operation.name, kind, operation, make] as const),
);

describe('an answer of the wrong form is asked for again, then fails its target; nothing lands', () => {
  test.each(cases)('%s: %s', async (name, _, operation, make) => {
    const crawl = await newCrawl(newTask(name), () => make(operation));
    const ids = operation.paging === 'batch' ? { ids: ['a', 'b'] } : {};
    expect(await crawl.run(ids)).toMatchObject({ kind: 'server', attempts: 4 });
    if (operation.paging === 'batch') expect(await crawl.landed()).toMatchObject({ records: 0, nulls: 0 });
    else await expect(crawl.landed()).rejects.toThrow('nothing has landed');
  });

  test('lists never may be unknown', () => {
    const lists = operations.filter((operation) => isList(operation) && operation.paging !== 'batch');
    expect(lists.length).toBeGreaterThan(6);
    expect(lists.filter(({ mayBeUnknown }) => mayBeUnknown)).toEqual([]);
  });
});

test.each(
  operations.filter((operation) => operation.mayBeUnknown && !isList(operation)).map(({ name }) => [name]),
)('%s: null is the answer that there is none', async (name) => {
  const task = newTask(name);
  const crawl = await newCrawl(task, () => withRecords(task.operation, null));
  expect(await crawl.run()).toBe(null);
  expect(await crawl.landed()).toMatchObject({ records: 0, nulls: 1, last: { end: 'exhausted' } });
});

test('nulls in a list land as records that may be any row; a batch counts them as unknown', async () => {
  const list = await newCrawl(newTask('getTokenAccounts'), ({ cursor }) => ({
    last_indexed_slot: 100,
    token_accounts: cursor === undefined ? [null, { address: 'a' }, null] : [],
    ...(cursor === undefined ? { cursor: 'end' } : {}),
  }));
  expect(await list.run()).toBe(null);
  expect(await list.landed()).toMatchObject({ records: 3, nulls: 2 });
  const batch = await newCrawl(newTask('getAssetBatch'), () => [null, { id: 'b' }]);
  expect(await batch.run({ ids: ['a', 'b'] })).toBe(null);
  expect(await batch.landed()).toMatchObject({ records: 1, nulls: 1 });
});

test('a batch of which every part is "not found" fails after a bounded number of requests', async () => {
  const crawl = await newCrawl(newTask('getMultipleNewAddressProofsV2', { pageSize: 50 }), () =>
    Object.assign(new Error('Tree Not Found: x'), { code: -32000 }),
  );
  const ids = Array.from({ length: 500 }, (_, n) => JSON.stringify({ address: `a${n}`, tree: 't' }));
  expect(await crawl.run({ ids })).toMatchObject({ kind: 'no_data' });
  expect(crawl.asked.length).toBeLessThan(70);
});
