import { readSql } from '../sql-text.ts';
import type { Database } from './database.ts';
import { readTableSpecs, type TableSpec } from './table-spec.ts';

/**
 * Gives the rows and versions that have no slot, in tables whose others have one, the nearest that is known: older versions
 * left them so where an answer said none (sql/migrations/4-slots.sql). Done again, it changes nothing.
 */
export async function repairSlots(database: Database): Promise<void> {
  for (const spec of readTableSpecs().filter(({ publish }) => publish === 'merge')) {
    await database.run(fillIn('migrations/4-slots.sql', spec));
    if (spec.history) await database.run(fillIn('migrations/4-past-slots.sql', spec));
  }
}

/**
 * Takes back the times of rows and versions that lie in the future: a clock that was ahead for a night left them, and until then
 * no later answer would count. Done again, it changes nothing.
 */
export async function repairTimes(database: Database): Promise<void> {
  for (const { name, types, publish, history } of readTableSpecs()) {
    if (publish !== 'merge') continue;
    const times = [...types.keys()].filter((column) => /(^|_)(seen|changed)_at$/.test(column));
    await takeBack(database, name, times);
    if (history) await takeBack(database, `past.${name}`, [...times, 'valid_to']);
  }
}

async function takeBack(database: Database, table: string, times: readonly string[]): Promise<void> {
  // The program's own clock, which its answers may have put right; not the database's.
  await database.run(
    `update ${table} set ${times.map((time) => `${time} = if(${time} > $now::timestamptz, $now::timestamptz, ${time})`).join(', ')}
    where ${times.map((time) => `${time} > $now::timestamptz`).join(' or ')}`,
    { now: new Date().toISOString() },
  );
}

function fillIn(path: string, { name, key }: TableSpec): string {
  return readSql(path).replaceAll('{table}', name).replaceAll('{key}', key.join(', '));
}
