/** The guards whose refusals a user may accept, each with an option of `run`, `--accept-<guard>`. */
export const guards = ['vanished', 'blank', 'quarantine', 'rollback', 'ahead'] as const;

export type Guard = (typeof guards)[number];

/** The guards of `sql/guards/`. */
export type GuardName = 'vanished' | 'blank' | 'quarantined' | 'stale';

const accepts: Readonly<Record<GuardName, Guard>> = {
  vanished: 'vanished',
  blank: 'blank',
  quarantined: 'quarantine',
  stale: 'rollback',
};

/** The option that accepts refusals of a guard of `sql/guards/`. */
export function acceptOf(guard: GuardName): Guard {
  return accepts[guard];
}

/** What is accepted, by option: jobs, or parts of one as `job/target` (of `blank`: `job/column`). */
export type Accepted = Readonly<Record<Guard, readonly string[]>>;

export const nothingAccepted: Accepted = makeAccepted(() => []);

/** @param listOf lists what is accepted for a guard */
export function makeAccepted(listOf: (guard: Guard) => readonly string[]): Accepted {
  return Object.fromEntries(guards.map((guard) => [guard, listOf(guard)])) as unknown as Accepted;
}

/** Joins two: what either of them accepts. */
export function joinAccepted(one: Accepted, other: Partial<Accepted> = {}): Accepted {
  return makeAccepted((guard) => [...one[guard], ...(other[guard] ?? [])]);
}

/** The guards for which something is accepted, as the run log has them. */
export function listAccepted(accepted: Accepted): Partial<Accepted> {
  return Object.fromEntries(
    guards.flatMap((guard) => (accepted[guard].length === 0 ? [] : [[guard, accepted[guard]]])),
  );
}

/** Whether a target is accepted, by itself or with its job. */
export function isAccepted(
  accepted: readonly string[],
  { job, target }: { job: string; target: string },
): boolean {
  return accepted.includes(job) || accepted.includes(`${job}/${target}`);
}
