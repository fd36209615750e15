import { writeFileSync } from 'node:fs';
import { configSchemaText } from '../src/config/config-schema.ts';
import { jobSchemaText } from '../src/jobs/job-schema.ts';

/** Writes job.schema.json, with which editors complete and check job files, beside the bundled and the example jobs. */
for (const folder of ['jobs', 'docs/examples/jobs'])
  writeFileSync(new URL(`../${folder}/job.schema.json`, import.meta.url), jobSchemaText());

/** The same for `ledgerlake.yaml`. */
writeFileSync(new URL('../config.schema.json', import.meta.url), configSchemaText());
