import type { Thresholds } from '../thresholds.ts';
import type { Database } from '../warehouse/database.ts';

/** Makes `threshold`, one row that the guards read. */
export async function makeThresholds(
  database: Database,
  thresholds: Thresholds & { quarantineLimit: number },
): Promise<void> {
  await database.run(
    `create or replace temp table threshold as
    select
      $vanishedShare::double as vanished_share,
      $vanishedJobShare::double as vanished_job_share,
      $blankShare::double as blank_share,
      $blankOtherShare::double as blank_other_share,
      $staleShare::double as stale_share,
      $quarantineLimit::double as quarantine_limit,
      $lagSlots::bigint as lag_slots,
      $rows::bigint as rows,
      $fewRows::bigint as few_rows`,
    { ...thresholds },
  );
}
