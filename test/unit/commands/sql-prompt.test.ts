import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, expect, test } from 'vitest';
import { resultText } from '../../../src/commands/result-text.ts';
import { completeSql, endsStatement, runPrompt } from '../../../src/commands/sql-prompt.ts';
import { openQuerySession } from '../../../src/warehouse/query.ts';
import { createDataFolder, type TestFolder } from '../../support/data-folder-fixture.ts';

let folder: TestFolder;

beforeAll(async () => {
  folder = await createDataFolder();
  return () => folder.remove();
});

/** Types into a prompt until it ends. @param typed what is typed, each when the output has the text before it */
async function converse(
  typed: readonly (readonly [after: string, text: string, laterMs?: number])[],
): Promise<{ shown: string; remembered: string[] }> {
  const session = await openQuerySession(join(folder.root, 'data/warehouse.duckdb'), {
    ...{ memoryLimit: '128MB', threads: 1, signal: new AbortController().signal },
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const remembered: string[] = [];
  let shown = '';
  let next = 0;
  output.setEncoding('utf8').on('data', (piece) => {
    shown += piece;
    while (next < typed.length && shown.includes(typed[next]![0])) {
      shown = shown.replace(typed[next]![0], '');
      const [, text, laterMs = 0] = typed[next]!;
      setTimeout(() => input.write(text), laterMs);
      next += 1;
    }
  });
  await runPrompt({
    ...{ session, input, output, terminal: true, history: [] },
    remember: async (line) => {
      remembered.push(line);
    },
    async show(sql, vertical) {
      const pieces = resultText(await session.run(sql), 'table', 60, vertical);
      for await (const piece of pieces) output.write(piece);
    },
  });
  session.close();
  return { shown, remembered };
}

test('statements over several lines, words of its own, and errors; one after the other', async () => {
  const { shown, remembered } = await converse([
    ['ledgerlake> ', 'select 40 + 2 as answer\n'],
    ['...> ', ', 7 as seven;\n'],
    ['(1 row)', 'select nothing from assets;\nselect 5 as five;\n'],
    ['five', '.vertical\n'],
    ['on\n', 'select 6 as six;\n'],
    ['row 1', '.nonsense\n.tables\n'],
    ['token_accounts', '.quit\n'],
  ]);
  expect(shown).toContain('42');
  expect(shown).toContain('Binder Error');
  expect(shown).toContain('.nonsense is not known');
  expect(remembered).toEqual([
    'select 40 + 2 as answer',
    ', 7 as seven;',
    'select nothing from assets;',
    'select 5 as five;',
    'select 6 as six;',
  ]);
});

test('Ctrl-C ends the statement, not the program', async () => {
  const { shown } = await converse([
    ['ledgerlake> ', 'select count(*) from range(100000000000) a, range(1000000) b;\n'],
    // It is at work by then.
    ['b;', '\u0003', 1500],
    ['stopped', 'select 3 as half\n'],
    ['...> ', '\u0003'],
    ['ledgerlake> ', "select 'still ' || 'here' as it;\n"],
    ['still here', '.quit\n'],
  ]);
  expect(shown).not.toContain('half ');
});

test('a statement ends with a semicolon that is not in quotes or a comment', () => {
  const ends = ['select 1;', "select ';' ;\n", 'select 1; -- done', 'select /* ; */ 1;'];
  const goesOn = ['select 1', "select ';", 'select 1 -- ;', 'select /* ;', `select "a;`];
  expect(ends.map(endsStatement)).toEqual(ends.map(() => true));
  expect(goesOn.map(endsStatement)).toEqual(goesOn.map(() => false));
});

test('tables and columns are completed', () => {
  const catalog = new Map([
    ['assets', ['id', 'owner', 'collection']],
    ['token_accounts', ['address', 'owner', 'amount']],
    ['meta.runs', ['run_id']],
  ]);
  expect(completeSql('select * from tok', catalog)).toEqual([['token_accounts'], 'tok']);
  expect(completeSql('from meta.', catalog)).toEqual([['meta.runs'], 'meta.']);
  expect(completeSql('from token_accounts where a', catalog)).toEqual([['address', 'amount', 'assets'], 'a']);
  expect(completeSql('select assets.o', catalog)).toEqual([['assets.owner'], 'assets.o']);
  expect(completeSql('.ta', catalog)).toEqual([['.tables'], '.ta']);
});

test('a table too wide for the terminal is shown in blocks, or a field a line, never wrapped', async () => {
  const session = await openQuerySession(join(folder.root, 'data/warehouse.duckdb'), {
    ...{ memoryLimit: '128MB', threads: 1, signal: new AbortController().signal },
  });
  const read = async (width: number, vertical = false) => {
    const pieces = resultText(await session.run('from assets order by id limit 2'), 'table', width, vertical);
    let all = '';
    for await (const piece of pieces) all += piece;
    return all;
  };
  for (const width of [40, 80, 120]) {
    const table = await read(width);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width);
    for (const column of ['interface', 'royalty_percent', 'changed_at'])
      expect(table, `${width}: ${column}`).toMatch(new RegExp(`\\b${column.slice(0, 12)}`));
  }
  const vertical = await read(80, true);
  expect(vertical.match(/^─ row \d/gm)).toHaveLength(2);
  expect(vertical).toMatch(/^interface +\S/m);
  session.close();
});
