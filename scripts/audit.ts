/**
 * Known vulnerabilities of the dependencies, and the registry's signatures of what is installed:
 *
 *     npx tsx scripts/audit.ts
 *
 * Exits with 1 when something is found. If the registry does not answer, it says so and exits with 0, because a build without a
 * network must not fail for it.
 */
import { spawnSync } from 'node:child_process';

interface Answer {
  /** `npm audit`, when the registry answered. */
  metadata?: { vulnerabilities: Record<string, number> };
  /** `npm audit signatures`, when the registry answered. */
  invalid?: unknown[];
  missing?: unknown[];
}

function runNpm(args: readonly string[]): { answer: Answer; output: string } {
  const { stdout, stderr } = spawnSync('npm', [...args, '--json'], { encoding: 'utf8' });
  try {
    return { answer: JSON.parse(stdout) as Answer, output: stdout };
  } catch {
    return { answer: {}, output: stderr };
  }
}

/** How many problems there are; null when the registry did not answer. */
function countFindings({ metadata, invalid, missing }: Answer): number | null {
  if (metadata !== undefined) return metadata.vulnerabilities.total ?? 0;
  return invalid === undefined || missing === undefined ? null : invalid.length + missing.length;
}

for (const [what, args] of [
  ['known vulnerabilities', ['audit']],
  ['packages without a valid signature', ['audit', 'signatures']],
] as const) {
  const { answer, output } = runNpm(args);
  const found = countFindings(answer);
  if (found === null)
    console.error(`${what}: NOT CHECKED, the registry did not answer (npm ${args.join(' ')})`);
  else console.log(`${what}: ${found}`);
  if (found !== null && found > 0) {
    console.error(output);
    process.exitCode = 1;
  }
}
