/** The guards that somebody may let pass: each has an option of `run`, `--accept-<guard>`. */
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

/** Which option lets it pass. */
export function acceptOf(guard: GuardName): Guard {
  return accepts[guard];
}

/** What each guard lets pass: jobs, or parts of one as `job/target` (of `blank`: `job/column`). */
export type Accepted = Readonly<Record<Guard, readonly string[]>>;

export const nothingAccepted: Accepted = makeAccepted(() => []);

/** @param listOf what a guard lets pass */
export function makeAccepted(listOf: (guard: Guard) => readonly string[]): Accepted {
  return Object.fromEntries(guards.map((guard) => [guard, listOf(guard)])) as unknown as Accepted;
}

/** What either of two lets pass. */
export function joinAccepted(one: Accepted, other: Partial<Accepted> = {}): Accepted {
  return makeAccepted((guard) => [...one[guard], ...(other[guard] ?? [])]);
}

/** Only the guards that let something pass, as the run log says it. */
export function listAccepted(accepted: Accepted): Partial<Accepted> {
  return Object.fromEntries(
    guards.flatMap((guard) => (accepted[guard].length === 0 ? [] : [[guard, accepted[guard]]])),
  );
}

/** Whether a guard lets a target pass, by itself or with its job. */
export function isAccepted(
  accepted: readonly string[],
  { job, target }: { job: string; target: string },
): boolean {
  return accepted.includes(job) || accepted.includes(`${job}/${target}`);
}
