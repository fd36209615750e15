import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandList } from '../../../src/commands/command-list.ts';
import { root } from '../../support/documents.ts';

interface Command {
  place: string;
  /** Everything after `ledgerlake`. */
  line: string;
}

/** Command lines in backquotes, or at a line's end after a colon, in hints, messages and documents. */
function listCommands(): Command[] {
  const src = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join('src', file));
  const files = [...src, 'docs/troubleshooting.md', 'docs/analysis.md'];
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const quoted = text.matchAll(/\\?`ledgerlake ([a-z][^`]*?)\\?`/g);
    const after = text.matchAll(/: ledgerlake ([a-z][^'`\n;]*)/g);
    // Up to what a shell does with it.
    return [...quoted, ...after].map(([, line]) => ({
      place: file,
      line: line!.split(/ (?:\|\||&&|\|)/)[0]!,
    }));
  });
}

const commands = listCommands();

test('there are commands to look at', () => {
  expect(commands.length).toBeGreaterThan(60);
});

test('every command that a hint or the troubleshooting names is one, with options that it has', async () => {
  const wrong: string[] = [];
  for (const { place, line } of commands) {
    const [name, ...words] = line.split(/\s+/);
    const entry = commandList.find((one) => one.name === name);
    if (entry === undefined) {
      wrong.push(`${place}: ledgerlake ${line}`);
      continue;
    }
    const { usage } = await entry.load();
    const known = Object.keys(usage.options ?? {}).flatMap(
      (option) => option.match(/--?[a-z][a-z-]*/g) ?? [],
    );
    const global = [
      '--config',
      '--data-dir',
      '--jobs-dir',
      '--json',
      '--log-level',
      '--no-progress',
      '--env',
      '--help',
    ];
    const given = words.flatMap((word) => /^--?[a-z][a-z-]*/.exec(word)?.[0] ?? []);
    for (const option of given)
      if (![...known, ...global].includes(option)) wrong.push(`${place}: ledgerlake ${line}: ${option}`);
    const action = Object.entries(usage.arguments ?? {})[0];
    if (action !== undefined && typeof action[1] === 'object' && action[1].choices !== undefined) {
      const { choices } = action[1];
      const said = words.find((word) => /^[a-z]/.test(word));
      if (said !== undefined && !said.split('|').every((one) => choices.includes(one)))
        wrong.push(`${place}: ledgerlake ${line}: ${said}`);
    }
  }
  expect(wrong).toEqual([]);
});
