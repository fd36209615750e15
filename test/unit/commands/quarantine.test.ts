import { expect, test } from 'vitest';
import { chooseNamed } from '../../../src/commands/quarantine.ts';
import { formatTable } from '../../../src/commands/text-table.ts';

const entries = ['15acb3e3f8aa', '15acb3e3f8bb', '99'].map((id) => ({ id, key: `key-${id}` }));
const show = (named: string) =>
  chooseNamed(
    entries.filter(({ id, key }) => id.startsWith(named) || key === named),
    named,
  ).map(({ id }) => id);

test('an entry is named by its id, the beginning of it that no other id has, or its key', () => {
  expect(show('15acb3e3f8aa')).toEqual(['15acb3e3f8aa']);
  expect(show('15acb3e3f8b')).toEqual(['15acb3e3f8bb']);
  expect(show('key-99')).toEqual(['99']);
  expect(show('nothing')).toEqual([]);
  expect(() => show('15ac')).toThrow('2 ids in quarantine begin with 15ac');
});

test('an id is whole in a narrow table, whatever stands beside it', () => {
  const heads = [{ name: 'id', whole: true }, { name: 'reason' }, { name: 'text' }];
  const table = formatTable(heads, [['15acb3e3f8aa', 'r'.repeat(90), 't'.repeat(200)]], { width: 40 });
  expect(table.split('\n')[2]).toBe(`15acb3e3f8aa  ${'r'.repeat(11)}…  ${'t'.repeat(11)}…`);
});
