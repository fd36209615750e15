// Where ledgerlake works in the benchmark: a folder with a config, jobs and data, as a user has it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Measurement, type MeasureOptions, measure } from './measure.ts';
import type { Target } from './records.ts';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

/** The operation that lists a target's records, by their kind. */
export const operations = { asset: 'getAssetsByGroup', token_account: 'getTokenAccounts' } as const;

/** Parameters that name a target. */
export function targetParams(operation: string, target: string): Record<string, string> {
  return operation === 'getTokenAccounts' ? { mint: target } : { groupKey: 'collection', groupValue: target };
}

export interface Place {
  data: string;
  /** Writes the job `name` over these targets. */
  addJob(name: string, targets: readonly Target[]): void;
  /** The program, as a user runs it: a process of its own. @throws when it exits with neither 0 nor 75 (a budget) */
  cli(...args: string[]): Promise<Measurement>;
  /** The same, watched. */
  watch(watching: Pick<MeasureOptions, 'onStart' | 'onSample'>, ...args: string[]): Promise<Measurement>;
  remove(): void;
}

/** @param lake false: the run's export writes one small table only, since a run without any export cannot be asked for */
export function openPlace(dir: string, url: string, { lake }: { lake: boolean }): Place {
  const root = mkdtempSync(join(dir, 'ledgerlake-bench-'));
  mkdirSync(join(root, 'jobs'));
  // Told that there is no limit: otherwise a run finds it out, from two requests a second on.
  const limits = 'api: { limits: { das: { rps: 1000000 } } }\n';
  writeFileSync(join(root, 'ledgerlake.yaml'), lake ? limits : `${limits}lake: { tables: [webhooks] }\n`);
  const env = { PATH: process.env.PATH, LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'bench' };
  return {
    data: join(root, 'data'),
    addJob(name, targets) {
      const operation = operations[targets[0]!.kind];
      const [param] = Object.keys(targetParams(operation, '')).slice(-1);
      writeFileSync(join(root, `jobs/${name}.txt`), targets.map((target) => `${target.name}\n`).join(''));
      writeFileSync(
        join(root, `jobs/${name}.yaml`),
        `describe: ${targets.length} targets of ${targets[0]!.records} records
method: ${operation}
${operation === 'getAssetsByGroup' ? 'params: { groupKey: collection }\n' : ''}for_each:
  ${param}: { file: ${name}.txt }
`,
      );
    },
    cli: (...args) => measure([cli, ...args], { cwd: root, env }),
    watch: (watching, ...args) => measure([cli, ...args], { cwd: root, env, ...watching }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
