import { readFileSync } from 'node:fs';

/**
 * Prints what failed and what was skipped, last of all `N passed, N failed, N skipped` of vitest's JSON report, and exits with 1
 * when anything failed or nothing ran. Who reads the end of a long log only has the reasons there too.
 *
 *     node .ci/count-tests.mjs <report.json> <exit code of make test>
 *
 * A file that could not be loaded, and a failure before or beside the tests (install, types, style), is one failure. Skipped are
 * tests whose promise is unshown because the machine lacks something, not those that another level of the tests runs.
 */
const [file, makeCode] = process.argv.slice(2);
const report = readReport(file);
const { passed, failed } = countTests(report);
const failures = failed === 0 && (makeCode !== '0' || passed === 0) ? 1 : failed;
for (const told of tellFailures(report)) process.stdout.write(`${told}\n`);
const skipped = listSkipped(report);
for (const { fullName, meta } of skipped) process.stdout.write(`skipped, no ${meta.lacks}: ${fullName}\n`);
const skips = skipped.length === 0 ? '' : `, ${skipped.length} skipped`;
process.stdout.write(`${passed} passed, ${failures} failed${skips}\n`);
process.exitCode = failures === 0 ? 0 : 1;

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // make stopped before the tests.
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  }
}

function countTests({ numPassedTests, numFailedTests, testResults }) {
  const unloaded = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  return { passed: numPassedTests, failed: numFailedTests + unloaded.length };
}

/** Tests that this machine lacks something for (test/support/needs.ts). */
function listSkipped({ testResults }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return tests.filter(({ meta }) => meta?.lacks !== undefined);
}

function tellFailures({ testResults }) {
  const failedFiles = testResults.filter(({ status }) => status === 'failed');
  return failedFiles.flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults.filter((one) => one.status === 'failed');
    if (tests.length === 0) return [`FAILED ${name}\n${shorten(message ?? '')}`];
    return tests.map((one) => `FAILED ${name}: ${one.fullName}\n${shorten(one.failureMessages.join('\n'))}`);
  });
}

/** A message can hold a whole trace: its first and its last lines say what and where. */
function shorten(message) {
  const lines = message.split('\n');
  return lines.length <= 60 ? message : [...lines.slice(0, 40), '...', ...lines.slice(-20)].join('\n');
}
