import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { digestRecords } from '../../../src/landing/record-digests.ts';
import { newRecord, newRecords } from '../../support/pages.ts';

const list = { shape: 'asset', carries: [], params: { groupValue: 'a' } };

/** The digests of a page, in hex. */
function listDigests(
  page: Parameters<typeof digestRecords>[0],
  records: Parameters<typeof digestRecords>[1],
) {
  const all = Buffer.from(digestRecords(page, records) as string, 'base64').toString('hex');
  return all.match(/.{32}/g) ?? [];
}

test('a digest is half a SHA-256 of the text and of what else decides its row', () => {
  const text = '{"id":"a","supply":18446744073709551615}';
  const expected = createHash('sha256').update(`["asset",[],null]\n${text}`).digest('hex').slice(0, 32);
  expect(listDigests(list, newRecords(text, '{"id":"b"}'))[0]).toBe(expected);
});

test('one text has one digest wherever it stands', () => {
  const text = '{"id":"a"}';
  const [alone] = newRecords(text);
  const within = newRecord(`x${text}y`);
  const cut = Object.assign(newRecord(''), { source: within.source, start: 1, end: within.end - 1 });
  expect(listDigests(list, [cut])).toEqual(listDigests({ ...list, params: {} }, [alone!]));
});

test('another shape, groups carried, key, refusal, or a byte makes another digest', () => {
  const plain = newRecords('{"id":"a"}');
  const pages = [list, { ...list, shape: 'asset_proof' }, { ...list, carries: ['content'] }];
  const digests = [
    ...pages.flatMap((page) => listDigests(page, plain)),
    ...listDigests(list, newRecords('{"id":"a" }')),
    ...listDigests(list, [newRecord('{"id":"a"}', { key: 'k' })]),
    ...listDigests(list, [newRecord('{"id":"a"}', { refusal: 'too-deep' })]),
  ];
  expect(new Set(digests).size).toBe(6);
});

test('the order of the groups carried makes no difference', () => {
  const records = newRecords('{}');
  expect(listDigests({ ...list, carries: ['content', 'token_info'] }, records)).toEqual(
    listDigests({ ...list, carries: ['token_info', 'content'] }, records),
  );
});

test('a record that an audit compares with the question is told by the question, too', () => {
  const of = (owner: string) => ({ shape: 'token_account', carries: [], params: { owner } });
  const records = newRecords('{"address":"a"}');
  expect(listDigests(of('x'), records)).not.toEqual(listDigests(of('y'), records));
});

test('a record longer than the buffer that others are hashed in', () => {
  const text = `{"id":"${'a'.repeat(3 << 20)}"}`;
  const expected = createHash('sha256').update(`["asset",[],null]\n${text}`).digest('hex').slice(0, 32);
  expect(listDigests(list, newRecords(text))).toEqual([expected]);
});
