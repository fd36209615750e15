import { readSql } from '../sql-text.ts';
import type { Database } from './database.ts';
import { readTableSpecs, type TableSpec } from './table-spec.ts';

/**
 * Gives rows and versions without a slot, in tables whose other rows have one, the nearest known slot. Older versions left them
 * without one if the answer had none (sql/migrations/4-slots.sql). Idempotent.
 */
export async function repairSlots(database: Database): Promise<void> {
  for (const spec of readTableSpecs().filter(({ publish }) => publish === 'merge')) {
    await database.run(fillIn('migrations/4-slots.sql', spec));
    if (spec.history) await database.run(fillIn('migrations/4-past-slots.sql', spec));
  }
}

/**
 * Sets times of rows and versions that lie in the future to now. A clock that was ahead for a night left them, and until such a time
 * no later answer would count. Idempotent.
 */
export async function repairTimes(database: Database): Promise<void> {
  for (const { name, types, publish, history } of readTableSpecs()) {
    if (publish !== 'merge') continue;
    const times = [...types.keys()].filter((column) => /(^|_)(seen|changed)_at$/.test(column));
    await capTimes(database, name, times);
    if (history) await capTimes(database, `past.${name}`, [...times, 'valid_to']);
  }
}

async function capTimes(database: Database, table: string, times: readonly string[]): Promise<void> {
  // The program's clock, which answers may have corrected, not the database's.
  await database.run(
    `update ${table} set ${times.map((time) => `${time} = if(${time} > $now::timestamptz, $now::timestamptz, ${time})`).join(', ')}
    where ${times.map((time) => `${time} > $now::timestamptz`).join(' or ')}`,
    { now: new Date().toISOString() },
  );
}

function fillIn(path: string, { name, key }: TableSpec): string {
  return readSql(path).replaceAll('{table}', name).replaceAll('{key}', key.join(', '));
}
