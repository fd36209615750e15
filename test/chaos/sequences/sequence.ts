import { createDraw } from '../../support/random.ts';
import { editSettings, type JobSettings } from './job-settings.ts';
import { endQuietly } from './quiet-nights.ts';
import { describeStep, type Step } from './steps.ts';
import { openWorld, runCommand, textOf, WentWrong, type World } from './world.ts';

/** What went wrong first in a sequence, and all that happened until then. */
export interface Failure {
  problems: string[];
  trace: string[];
}

/** Lets the steps happen to a new installation, then quiet nights. @returns null when the tables end as the ledger is */
export async function playSequence(seed: number, steps: readonly Step[]): Promise<Failure | null> {
  const world = await openWorld(seed);
  try {
    for (const step of steps) await take(world, step);
    await endQuietly(world, seed);
    return null;
  } catch (error) {
    const problems = error instanceof WentWrong ? error.problems : [String((error as Error).stack)];
    return { problems: problems.slice(0, 20), trace: world.trace };
  }
}

async function take(world: World, step: Step): Promise<void> {
  const { ledger, place, trace, settings: before } = world;
  const draw = createDraw(step.seed);
  trace.push(`${ledger.now().slot}: ${describeStep(step)}`);
  const note = (what: string) => {
    trace[trace.length - 1] += ` (${what})`;
  };
  switch (step.kind) {
    case 'command':
      await runCommand(world, { ...step, args: step.args.map((arg) => nameJob(arg, before)) });
      break;
    case 'ledger':
      ledger.pass(draw.between(1, 50));
      note(ledger.change(draw, step.changes).join(', '));
      break;
    case 'ledger closes most of an owner':
      note(ledger.closeMost(draw).slice(0, 6));
      break;
    case 'edit':
      world.settings = editSettings(step.edit, before, draw, ledger);
      await place.writeJobs(world.settings);
      note(textOf(changedMembers(before, world.settings)));
      break;
    case 'folder':
      if (!(await place.disturb(step.event, step.seed))) note('there is none');
      break;
    case 'days':
      place.pass(step.days);
  }
}

/** `{owners}` is the job by owner, whatever it is called now. */
function nameJob(arg: string, { owners, collections }: JobSettings): string {
  return arg.replace('{owners}', owners.name).replace('{collections}', collections.name);
}

function changedMembers(before: JobSettings, after: JobSettings): Partial<JobSettings> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof JobSettings] !== value),
  );
}
