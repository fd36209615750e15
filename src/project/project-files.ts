import { configSchemaText } from '../config/config-schema.ts';
import { jobSchemaText } from '../jobs/job-schema.ts';
import { configText, envExampleText, gitignoreText } from './config-text.ts';
import { jobFiles } from './job-files.ts';
import type { ProjectFile, ProjectOptions } from './project.ts';
import { scheduleFiles } from './schedules.ts';

/** Every file that `init` writes. Pure. */
export function projectFiles(options: ProjectOptions): ProjectFile[] {
  return [
    { path: 'ledgerlake.yaml', text: configText(options) },
    { path: 'config.schema.json', text: configSchemaText() },
    { path: '.env.example', text: envExampleText(options.followed) },
    { path: '.gitignore', text: gitignoreText },
    { path: 'jobs/job.schema.json', text: jobSchemaText() },
    ...jobFiles(options),
    ...options.schedules.flatMap((schedule) => scheduleFiles(schedule, options)),
  ];
}
