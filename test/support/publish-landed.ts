import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DataFolder, dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { createLoader } from '../../src/load/load.ts';
import { listUnloaded } from '../../src/load/staged-segments.ts';
import { publish } from '../../src/publish/publish.ts';
import type { Published } from '../../src/publish/published.ts';
import { openBuild } from '../../src/warehouse/build.ts';
import { type Database, openDatabase } from '../../src/warehouse/database.ts';

const options = { memoryLimit: '256MB', threads: 1, tempDir: tmpdir() };

/** An empty data folder, removed when the test ends. */
export async function makeFolder(): Promise<DataFolder> {
  const folder = dataFolder(await mkdtemp(join(tmpdir(), 'ledgerlake-folder-')));
  onTestFinished(() => rm(folder.root, { recursive: true, force: true }));
  await makeDataFolder(folder);
  return folder;
}

/** Loads every landed segment that is not loaded yet. */
export async function loadLanded(folder: DataFolder): Promise<void> {
  const memory = await openDatabase(':memory:', options);
  const loader = await createLoader(memory, folder);
  for (const segment of await listUnloaded(folder)) await loader.loadSegment(segment);
  memory.close();
}

interface Settings {
  memoryLimit?: string;
}

/** Publishes what is loaded as this run. @param ask is asked of the build afterwards */
export async function publishLoaded<T>(
  folder: DataFolder,
  run: string,
  ask: (build: Database, published: Published) => Promise<T>,
  { memoryLimit = options.memoryLimit }: Settings = {},
): Promise<T> {
  const build = await openBuild(folder, { ...options, memoryLimit });
  try {
    return await ask(build, await publish(build, folder, { run, quarantineLimit: 0.01 }));
  } finally {
    build.close();
  }
}
