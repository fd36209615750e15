import { expect, test } from 'vitest';
import { harmlessParams, listOperations } from '../../../src/operations/catalogue.ts';

test.each(listOperations().map((operation) => [operation.name, operation] as const))(
  '%s can be asked once, by parameters that it takes, unless it changes something',
  (name, operation) => {
    const given = harmlessParams(operation);
    expect(given === null).toBe(name === 'setWebhookActive');
    if (given === null) return;
    const { limit, ...params } = given;
    expect(operation.params.safeParse(params).error).toBe(undefined);
    for (const one of operation.anyOf === undefined ? [] : [operation.anyOf])
      expect(one.filter((param) => param in params)).toHaveLength(1);
    expect(limit ?? 1).toBe(1);
  },
);
