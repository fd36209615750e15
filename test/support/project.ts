import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { withoutLimits } from './limits.ts';

/** A temporary folder with jobs, a config and a data folder, as `init` makes one. */
export interface Project {
  root: string;
  data: string;
  jobs: string;
}

/** An empty project of one test, removed when the test ends. */
export async function makeProject(): Promise<Project> {
  const project = await makeLastingProject();
  onTestFinished(() => removeProject(project));
  return project;
}

/** An empty project of several tests; the caller removes it. */
export async function makeLastingProject(): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-project-'));
  const project = { root, data: join(root, 'data'), jobs: join(root, 'jobs') };
  await mkdir(project.jobs);
  await writeFiles(root, { 'ledgerlake.yaml': '' });
  return project;
}

export function removeProject({ root }: Pick<Project, 'root'>): Promise<void> {
  return rm(root, { recursive: true, force: true });
}

/** A copy of a project, removed when the test ends. */
export async function copyProject(from: Project): Promise<Project> {
  const project = await makeProject();
  await cp(from.root, project.root, { recursive: true, verbatimSymlinks: true });
  return project;
}

/** Writes files below a folder and makes the folders they need. A `ledgerlake.yaml` gets the test servers' limits: none. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, path === 'ledgerlake.yaml' ? withoutLimits(text) : text);
  }
}

/** The environment of a program that sends all its requests to one server. */
export function environmentOf({ url }: { url: string }): Record<string, string> {
  return { LEDGERLAKE_RPC_URL: url, LEDGERLAKE_API_KEY: 'sandbox' };
}
