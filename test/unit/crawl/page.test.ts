import { expect, test } from 'vitest';
import { BrokenCursor } from '../../../src/crawl/crawl-task.ts';
import { receivePage } from '../../../src/crawl/page.ts';
import { splitPage } from '../../../src/landing/split.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/operation.ts';

function receive(name: string, text: string) {
  const operation = findOperation(name) as Operation;
  return receivePage(operation, splitPage(Buffer.from(text), operation.records));
}

test('numbers that no double holds stay as they came: envelope, errors, cursor', () => {
  const envelope =
    '{"jsonrpc":"2.0","result":{"total":18446744073709551615,"items":[],"cursor":9007199254740993,"errors":[{"id":"a","slot":9007199254740993},\n{"n":1.10}]}}';
  const page = receive('getAssetsByGroup', envelope.replace('"items":[]', '"items":[{"id":"b"}]'));
  expect(page.envelope).toBe(envelope);
  expect(page.cursor).toBe('9007199254740993');
  const refusal = 'the answer had an error in its place';
  expect(page.records.map(({ bytes, form, refusal }) => ({ text: bytes.toString(), form, refusal }))).toEqual(
    [
      { text: '{"id":"b"}', form: '{"id":0}' },
      { text: '{"id":"a","slot":9007199254740993}', refusal },
      { text: '{"n":1.10}', refusal },
    ],
  );
});

test.each([
  ['"c"', 'c'],
  ['""', null],
  ['null', null],
  ['0', '0'],
  ['1e21', '1e21'],
])('the cursor %s is %j', (cursor, read) => {
  expect(receive('getAssetsByGroup', `{"result":{"items":[],"cursor":${cursor}}}`).cursor).toBe(read);
});

test.each(['{}', '["c"]', 'true', '"half \\ud800 pair"'])(
  'the cursor %s is refused: it is not the end',
  (cursor) => {
    expect(() => receive('getAssetsByGroup', `{"result":{"items":[],"cursor":${cursor}}}`)).toThrow(
      BrokenCursor,
    );
  },
);

test.each([
  ['123', 123],
  ['"123"', 123],
  ['-7', null],
  ['"soon"', null],
  ['9223372036854775808', null],
])('the slot %s is %j', (slot, read) => {
  expect(receive('getAssetsByGroup', `{"result":{"items":[],"last_indexed_slot":${slot}}}`).slot).toBe(read);
});
