import { writeFileSync } from 'node:fs';
import { referencePages } from './reference-pages.ts';

/** Writes the generated parts of docs/reference/: `npm run docs`. */
for (const { path, current, written } of await referencePages())
  if (written !== current) writeFileSync(path, written);
