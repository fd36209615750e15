import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import type { WorldOptions } from '../../src/sandbox/world.ts';
import { root } from '../support/documents.ts';
import { openWorkplace, type Workplace } from '../support/workplace.ts';
import { type Recorder, startRecorder } from './recorder.ts';

/** A sandbox, a recorder of its answers, and a workplace with the shipped jobs aimed at its whole world. */
export interface Night extends Workplace {
  sandbox: Sandbox;
  wire: Recorder;
  close(): Promise<void>;
}

export async function startNight(options: WorldOptions): Promise<Night> {
  const sandbox = await startSandbox(options);
  const wire = await startRecorder(sandbox.url);
  const truth = sandbox.world.truth();
  const place = await openWorkplace(wire.url);
  await cp(join(root, 'jobs'), join(place.root, 'jobs'), { recursive: true });
  const targets = join(place.root, 'jobs/targets');
  await writeFile(join(targets, 'collections.txt'), truth.collections().join('\n'));
  await writeFile(join(targets, 'creators.txt'), truth.creators().join('\n'));
  return {
    ...place,
    sandbox,
    wire,
    async close() {
      await wire.close();
      await sandbox.close();
      await place.remove();
    },
  };
}
