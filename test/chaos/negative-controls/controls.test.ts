import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bars, showFigure } from '../../bars.ts';
import { release } from '../../levels.ts';
import { applies, judge, listControls, makeScratch, runControl } from './control.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const controls = listControls();

describe.each(controls)('$name', (control) => {
  test('can be planted in the code as it is', () => {
    expect(applies(control), `git apply ${control.patch}`).toBe(true);
  });

  test('names a test that there is', () => {
    expect(control.bug).not.toBe('');
    expect(existsSync(join(root, control.test)), control.test).toBe(true);
    // Names with values in them ($name, %s) are looked for up to the first.
    const [words] = control.filter.split(',');
    expect(readFileSync(join(root, control.test), 'utf8')).toContain(words);
  });
});

test('the bar counts every control', () => {
  expect(bars.controls.release).toBe(controls.length);
});

test('a test that does not fail, or fails for another reason than a wrong result, catches nothing', () => {
  const report = (...failureMessages: string[]) =>
    JSON.stringify({
      testResults: [
        {
          assertionResults: [
            { status: 'passed', failureMessages: [] },
            { status: failureMessages.length > 0 ? 'failed' : 'skipped', failureMessages },
          ],
        },
      ],
    });
  expect(judge(report()).verdict).toBe('not caught');
  expect(judge(report('SyntaxError: Unexpected token')).verdict).toBe('fails otherwise');
  expect(judge(report('AssertionError: expected 1 to be 2\n    at x')).verdict).toBe('caught');
  expect(judge(report('Error: STACK_TRACE_ERROR')).verdict).toBe('caught');
});

release(
  'every planted bug is caught',
  () => {
    const scratch = makeScratch();
    onTestFinished(() => scratch.remove());
    const verdicts = controls.map((control) => [control.name, runControl(control, scratch.path).verdict]);
    expect(verdicts).toEqual(controls.map(({ name }) => [name, 'caught']));
    showFigure('controls', { done: verdicts.length });
  },
  3_600_000,
);
