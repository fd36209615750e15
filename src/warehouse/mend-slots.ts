import type { Database } from './database.ts';
import { readSql } from './sql-text.ts';
import { readTableSpecs, type TableSpec } from './table-spec.ts';

/**
 * Gives the rows and versions that have no slot, in tables whose others have one, the nearest that is known: older versions
 * left them so where an answer said none (sql/migrations/4-slots.sql). Done again, it changes nothing.
 */
export async function mendSlots(database: Database): Promise<void> {
  for (const spec of readTableSpecs().filter(({ publish }) => publish === 'merge')) {
    await database.script(fillIn('migrations/4-slots.sql', spec));
    if (spec.history) await database.script(fillIn('migrations/4-past-slots.sql', spec));
  }
}

function fillIn(path: string, { name, key }: TableSpec): string {
  return readSql(path).replaceAll('{table}', name).replaceAll('{key}', key.join(', '));
}
