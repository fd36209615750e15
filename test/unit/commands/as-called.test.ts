import { expect, test } from 'vitest';
import { commandList } from '../../../src/commands/command-list.ts';
import { asCalled, hintedCommands, isOnPath } from '../../../src/commands/report-failure.ts';

const npx = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'ledgerlake' run" };

test('every command may stand in a hint', () => {
  expect(commandList.map(({ name }) => name).filter((name) => !hintedCommands.includes(name))).toEqual([]);
});

test('started by npx, a hint can be pasted as it stands; only commands are changed', () => {
  const hint =
    'Run `ledgerlake publish`, or: ledgerlake doctor --repair. ledgerlake makes it; /opt/ledgerlake run; npx ledgerlake run';
  expect(asCalled(hint, npx)).toBe(
    'Run `npx ledgerlake publish`, or: npx ledgerlake doctor --repair. ledgerlake makes it; /opt/ledgerlake run; npx ledgerlake run',
  );
  for (const env of [{}, { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'vitest' run" }])
    expect(asCalled(hint, env)).toBe(hint);
});

test.each([
  ['/usr/local/bin/ledgerlake', {}, true],
  ['/opt/ledgerlake/dist/cli.js', {}, false],
  ['/home/x/.npm/_npx/1/node_modules/.bin/ledgerlake', npx, false],
])('%s %j: on the PATH: %s', (script, env, found) => expect(isOnPath(env, script)).toBe(found));
