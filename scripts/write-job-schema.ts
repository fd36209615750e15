import { writeFileSync } from 'node:fs';
import { jobSchemaText } from '../src/jobs/job-schema.ts';

/** Writes jobs/job.schema.json, which editors read to complete and check job files. */
writeFileSync(new URL('../jobs/job.schema.json', import.meta.url), jobSchemaText());
