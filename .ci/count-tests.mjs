import { readFileSync } from 'node:fs';

/**
 * Prints `N passed, N failed` of vitest's JSON report and exits with 1 when anything failed or nothing ran.
 *
 *     node .ci/count-tests.mjs <report.json> <exit code of make test>
 *
 * A file that could not be loaded, and a failure before or beside the tests (install, types, style), is one failure.
 */
const [file, makeCode] = process.argv.slice(2);
const { passed, failed } = countTests(readReport(file));
const failures = failed === 0 && (makeCode !== '0' || passed === 0) ? 1 : failed;
process.stdout.write(`${passed} passed, ${failures} failed\n`);
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
