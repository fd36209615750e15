import { stat } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';

/** A run as `meta.runs` has it. */
export interface RunRow {
  run: string;
  verb: string;
  jobs: readonly string[];
  startedAt: string;
  finishedAt: string | null;
  exitCode: number | null;
  stoppedBy: string | null;
}

/**
 * Updates `meta.runs` and `meta.requests` from the run log and the request log. Rows whose lines have left the logs stay.
 */
export async function publishRuns(
  build: Database,
  folder: DataFolder,
  runs: readonly RunRow[],
): Promise<void> {
  await build.transaction(async () => {
    await build.run('delete from meta.runs where run_id in (select unnest($runs))', {
      runs: runs.map(({ run }) => run),
    });
    await build.run(readSql('publish/runs.sql'), { runs: JSON.stringify(runs) });
    if (!(await hasBytes(folder.requests))) return;
    await build.run(
      `delete from meta.requests where run_id in (
        select run
        from read_json(
          $requests, format = 'newline_delimited', records = true, ignore_errors = true, columns = {run: 'VARCHAR'}
        )
      )`,
      { requests: folder.requests },
    );
    await build.run(readSql('publish/requests.sql'), { requests: folder.requests });
  });
  await build.run('checkpoint');
}

async function hasBytes(path: string): Promise<boolean> {
  return await stat(path).then(
    ({ size }) => size > 0,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
