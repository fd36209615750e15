import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { resolveTargets } from '../jobs/targets.ts';
import { type Accepted, type Guard, guards, makeAccepted } from '../publish/accepted.ts';
import type { Usage } from './usage.ts';

/** Arguments that let a guard pass: `--accept-vanished` and the like. */
export type AcceptArgs = { [guard in Guard as `accept${Capitalize<guard>}`]?: string[] };

interface AcceptOption {
  /** What the option takes, as help shows it: a target of a job, or a column of its table. */
  takes: 'target' | 'column';
  description: string;
}

const acceptOption: Readonly<Record<Guard, AcceptOption>> = {
  vanished: {
    takes: 'target',
    description: 'Let this job, or job/target, lose as many rows as it says it did',
  },
  blank: {
    takes: 'column',
    description: 'Let this job, or job/column, empty as many fields as it says it did',
  },
  quarantine: {
    takes: 'target',
    description: 'Publish this job, or job/target, without the records that were quarantined',
  },
  rollback: {
    takes: 'target',
    description: 'Let the slots of this job, or job/target, go back to those of its source',
  },
  ahead: {
    takes: 'target',
    description: 'Believe this job, or job/target, a slot further ahead than the time allows',
  },
};

/** An option for each guard. */
export const acceptOptions: NonNullable<Usage['options']> = Object.fromEntries(
  guards.map((guard) => {
    const { takes, description } = acceptOption[guard];
    const describe = `${description}; may be given again`;
    return [`${nameOf(guard)} <${takes}>`, { describe, repeat: true as const }];
  }),
);

function nameOf(guard: Guard): string {
  return `--accept-${guard}`;
}

/**
 * What the guards are told to let pass: a job of the run, or a target of one. Targets that come from tables are known to the
 * run alone, and columns to the guard.
 * @throws UsageError for a job that the run is not for, or a target that the job does not have
 */
export async function readAccepted(args: AcceptArgs, jobs: readonly Job[]): Promise<Accepted> {
  const accepted = makeAccepted((guard) => listArguments(args, guard));
  for (const guard of guards)
    for (const value of accepted[guard]) await requireAcceptable(guard, value, jobs);
  return accepted;
}

/** What was given to one guard's option. */
export function listArguments(args: AcceptArgs, guard: Guard): readonly string[] {
  return args[`accept${capitalize(guard)}`] ?? [];
}

function capitalize<T extends string>(text: T): Capitalize<T> {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}` as Capitalize<T>;
}

async function requireAcceptable(guard: Guard, value: string, jobs: readonly Job[]): Promise<void> {
  const { takes } = acceptOption[guard];
  const [name = '', ...part] = value.split('/');
  const job = jobs.find((job) => job.name === name);
  if (job === undefined)
    throw new UsageError(
      `${nameOf(guard)} takes a job of this run, or job/${takes}, not "${value}"`,
      `Jobs of this run: ${jobs.map(({ name }) => name).join(', ')}.`,
    );
  if (takes === 'target' && part.length > 0 && job.forEach?.kind !== 'sql')
    await requireTarget(guard, job, part.join('/'));
}

async function requireTarget(guard: Guard, job: Job, target: string): Promise<void> {
  const names = (
    await resolveTargets(
      job,
      async () => [],
      () => undefined,
    )
  ).map(({ name }) => name);
  if (names.includes(target)) return;
  const shown = names.filter((name) => name !== '').slice(0, 10);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  throw new UsageError(
    `${nameOf(guard)}: job ${job.name} has no target "${target}"`,
    shown.length === 0
      ? `It is one target: ${nameOf(guard)} ${job.name}.`
      : `Its targets are ${shown.join(', ')}${more}.`,
  );
}
