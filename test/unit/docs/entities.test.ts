import { expect, test } from 'vitest';
import { joinCondition, listForgottenTables, sidesOf } from '../../../scripts/entity-diagram.ts';
import { relations } from '../../../scripts/entity-relations.ts';
import { withEmptyTables } from '../../../src/warehouse/model.ts';

test('every join of the entity diagrams can be queried', async () => {
  await withEmptyTables(async (database) => {
    for (const relation of relations) {
      const [left, right] = sidesOf(relation);
      expect(left.columns.length, relation.on).toBe(right.columns.length);
      await database.run(`from ${left.table} join ${right.table} on ${joinCondition(relation)} select 1`);
    }
  });
});

test('every table is in a diagram, or said to stand apart', () => {
  expect(listForgottenTables()).toEqual([]);
});
