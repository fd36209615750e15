import type { LandingRecord } from '../landing/landing-record.ts';
import { digestBytes, digestRecords } from '../landing/record-digests.ts';
import type { NewPage } from '../landing/render-page.ts';
import { quoteName } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { textHash } from './text-hash.ts';

/** Records that were just received, and the highest slot of their target's last crawl. */
export interface Received {
  page: NewPage;
  records: readonly LandingRecord[];
  seenSlot: number | null;
}

/**
 * Tasks whose records are all recognised by their texts: each row still equals what its text made, and did not change after
 * `seenSlot`. No record is read, so another task may be known all the same.
 */
export async function findRecognised(
  database: Database,
  spec: TableSpec,
  received: readonly Received[],
): Promise<Set<string>> {
  const digests = received.flatMap(({ page, records, seenSlot }) =>
    listDigests(page, records).map((digest) => ({ task: page.task, slot: seenSlot, digest })),
  );
  if (!spec.texts || digests.length === 0) return new Set();
  await database.run(
    `create or replace temp table received_digest as
    select unnest($tasks) as task, unnest($slots)::bigint as seen_slot, unnest($digests)::uuid as digest`,
    {
      tasks: digests.map(({ task }) => task),
      // Without a last crawl no row has changed since.
      slots: digests.map(({ slot }) => String(slot ?? Number.MAX_SAFE_INTEGER)),
      digests: digests.map(({ digest }) => digest),
    },
  );
  const rows = await database.rows<{ task: string }>(await recognisedSql(database, spec));
  return new Set(rows.map(({ task }) => task));
}

function listDigests(page: NewPage, records: readonly LandingRecord[]): string[] {
  const hex = Buffer.from(digestRecords(page, records) ?? '', 'base64').toString('hex');
  return hex.match(new RegExp(`.{${digestBytes * 2}}`, 'g')) ?? [];
}

async function recognisedSql(database: Database, spec: TableSpec): Promise<string> {
  const groups = listGroups(spec, await listColumns(database, spec.name));
  const rowHash = textHash(groups, 'k.carried', ({ hash, volatileHash }) => [
    `t.${hash}`,
    volatileHash ?? 'null',
  ]);
  return `
    select a.task
    from received_digest a
    left join texts.${spec.name} k using (digest)
    left join ${spec.name} t on ${spec.key.map((column) => `t.${quoteName(column)} = k.${quoteName(column)}`).join(' and ')}
    group by a.task
    having bool_and(
      t.seen_at is not null and k.row_hash = ${rowHash} and (t.changed_slot <= a.seen_slot) is not false
    )`;
}
