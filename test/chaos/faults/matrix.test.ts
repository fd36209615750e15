import { expect, onTestFinished, test } from 'vitest';
import { bar, showFigure } from '../../bars.ts';
import { createRandom, readSeed } from '../../support/random.ts';
import { startSmallWorld } from '../../support/small-world.ts';
import { canary, readLedger, runCell } from './fault-run.ts';
import { faults } from './faults.ts';
import { type Cell, stages } from './stages.ts';

const seed = readSeed();
const count = bar('cells');
/** Most of a cell's time is waiting, for retries and for the other runs of this machine. */
const atOnce = 3;

/** All cells in an order of the seed's, those first that bring every fault and every stage. */
function drawCells(random: () => number): Cell[] {
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, rank: random() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  const order = shuffled(faults);
  const turns = shuffled(stages);
  // Each round has every fault once, at the stage next to the one of the round before: nine rounds are all cells.
  return turns.flatMap((_, round) =>
    order.map((fault, n) => ({
      fault,
      stage: turns[(n + round) % turns.length]!,
      passes: random() < 0.6,
      form: Math.floor(random() * 6),
    })),
  );
}

function nameCell({ fault, stage, passes }: Cell): string {
  return `${fault.name} × ${stage}, ${passes ? 'once' : 'always'}`;
}

test('28 faults at 9 stages', () => {
  const all = new Set(drawCells(createRandom(seed)).map(({ fault, stage }) => `${fault.name} × ${stage}`));
  expect([faults.length, stages.length, all.size]).toEqual([28, 9, 252]);
});

test(
  `${count} cells: a run that meets a fault ends with what the ledger says, or says why not and the next one does`,
  async () => {
    console.log(`matrix.test.ts: LEDGERLAKE_SEED=${seed} LEDGERLAKE_BARS=cells=${count}`);
    const sandbox = await startSmallWorld(seed % 1000, {
      assets: 160,
      owners: 20,
      collections: 2,
      latencyMs: 0,
      apiKey: canary,
    });
    onTestFinished(() => sandbox.close());
    const ledger = await readLedger(sandbox);
    const pending = drawCells(createRandom(seed)).slice(0, count);
    const wrong: string[] = [];
    const codes: Record<string, number> = {};
    const worker = async () => {
      for (let cell = pending.shift(); cell !== undefined; cell = pending.shift()) {
        const result = await runCell(cell, ledger);
        codes[`${result.code}`] = (codes[`${result.code}`] ?? 0) + 1;
        if (result.wrong.length === 0) continue;
        wrong.push([nameCell(cell), ...result.wrong].join('\n    '));
        // At once: all cells take a quarter of an hour.
        console.log(`matrix.test.ts: ${wrong.at(-1)}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const note = Object.entries(codes).map(([code, runs]) => `${runs} ended with ${code}`);
    console.log(`matrix.test.ts: ${note.join(', ')}`);
    expect(wrong.join('\n'), `seed ${seed}`).toBe('');
    showFigure('cells', { done: count, seed, note: note.join(', ') });
  },
  300_000 + count * 8_000,
);
