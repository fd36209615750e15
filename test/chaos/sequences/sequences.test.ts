import { expect, test } from 'vitest';
import { bar, showFigure } from '../../bars.ts';
import { readSeed } from '../../support/random.ts';
import { playSequence } from './sequence.ts';
import { drawSteps } from './steps.ts';

const sequences = bar('sequences');
const first = readSeed();
/** Commands of a sequence, before its quiet nights. */
const commands = 10;

const seeds = Array.from({ length: sequences }, (_, n) => first + n);

test.for(seeds)(
  'whatever happens between nights, the tables end as the ledger is: sequence %i',
  { timeout: 1_200_000 },
  async (seed) => {
    const again = `LEDGERLAKE_SEED=${seed} LEDGERLAKE_BARS=sequences=1 npx vitest run test/chaos/sequences`;
    console.log(`sequences.test.ts: ${again}`);
    const failure = await playSequence(seed, drawSteps(seed, commands));
    if (failure === null) return showFigure('sequences', { done: 1, ...(seed === first ? { seed } : {}) });
    const report = [...failure.problems, 'what happened:', ...failure.trace, `again: ${again}`].join('\n');
    console.log(report);
    return expect.fail(report);
  },
);
