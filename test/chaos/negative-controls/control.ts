import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));

/** A bug that is planted to see that a test catches it: a patch with a header of `bug`, `test` and `name` lines. */
export interface Control {
  name: string;
  /** The bug, in words. */
  bug: string;
  /** Test file that must fail, and which of its tests (as vitest's -t). */
  test: string;
  filter: string;
  patch: string;
}

export type Verdict = 'caught' | 'not caught' | 'does not apply' | 'does not compile' | 'fails otherwise';

/** Every planted bug, by name. */
export function listControls(): Control[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.patch'));
  return names.sort().map((file) => {
    const patch = join(folder, file);
    const text = readFileSync(patch, 'utf8');
    const read = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(text)?.[1] ?? '';
    return {
      name: file.replace('.patch', ''),
      bug: read('bug'),
      test: read('test'),
      filter: read('name'),
      patch,
    };
  });
}

/** Whether a patch applies to the files as they are. */
export function applies({ patch }: Control, where = root): boolean {
  return spawnSync('git', ['apply', '--check', patch], { cwd: where }).status === 0;
}

/** Makes a copy of the repository, as it is in the working tree, to plant bugs in. */
export function makeScratch(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'ledgerlake-controls-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((name) => name !== '')) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    cpSync(join(root, file), join(path, file));
  }
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Plants one bug in the scratch copy, runs its test, and takes the bug out again. */
export function runControl(control: Control, scratch: string): { verdict: Verdict; message: string } {
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, {
      cwd: scratch,
      encoding: 'utf8',
      // Tests that `make test` leaves out, too.
      env: { ...process.env, LEDGERLAKE_BARS: 'daily' },
    });
  if (!applies(control, scratch)) return { verdict: 'does not apply', message: '' };
  run('git', 'apply', control.patch);
  try {
    const types = run('npx', 'tsc', '--noEmit');
    if (types.status !== 0) return { verdict: 'does not compile', message: types.stdout };
    const report = join(scratch, 'report.json');
    rmSync(report, { force: true });
    run(
      ...(['npx', 'vitest', 'run', control.test, '-t', control.filter, '--bail', '1'] as const),
      ...(['--reporter=json', `--outputFile=${report}`] as const),
    );
    return judge(readFileSync(report, 'utf8'));
  } finally {
    run('git', 'apply', '-R', control.patch);
  }
}

interface Report {
  testResults: { assertionResults: { status: string; failureMessages: string[] }[] }[];
}

/** A bug is caught when a test fails because something was not as expected, or never came. Pure. */
export function judge(reportText: string): { verdict: Verdict; message: string } {
  const { testResults } = JSON.parse(reportText) as Report;
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').flatMap((one) => one.failureMessages),
  );
  if (failed.length === 0) return { verdict: 'not caught', message: '' };
  // The second is what vitest's report calls a time-out.
  const message = failed.find((text) => /^AssertionError|STACK_TRACE_ERROR/.test(text));
  return message === undefined
    ? { verdict: 'fails otherwise', message: failed[0]! }
    : { verdict: 'caught', message: message.split('\n')[0]!.slice(0, 160) };
}
