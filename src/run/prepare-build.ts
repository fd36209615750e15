import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { takeIncoming } from '../landing/incoming.ts';
import { exists, listSegments } from '../landing/segment-files.ts';
import { listStaged, removeStaged } from '../load/staged-segments.ts';
import { hasOwnHashes, rehash } from '../publish/rehash.ts';
import { bindSource, moveSource, unbindEmpty } from '../warehouse/build.ts';
import type { Database } from '../warehouse/database.ts';
import { listMoves } from './moved-source.ts';
import { readRunLog } from './run-log.ts';

/** Binds the build to its source, rebuilds hashes of another DuckDB version, takes in pages received between runs. */
export async function prepareBuild(
  database: Database,
  { folder, log, origins }: { folder: DataFolder; log: Logger; origins: Readonly<Record<string, string>> },
): Promise<void> {
  // A mistyped first URL received nothing, so it must not bind the folder.
  if ((await listSegments(folder.landing)).length === 0) await unbindEmpty(database);
  await moveSource(database, listMoves(await readRunLog(folder.runs)));
  await bindSource(database, origins);
  if (!(await hasOwnHashes(database))) {
    log.info("the record hashes are another DuckDB version's: they are rebuilt");
    for (const segment of await listStaged(folder)) await removeStaged(folder, segment);
    await rehash(database);
  }
  await takeIncomingPages(database, folder, log);
}

/**
 * Takes pages that were received outside a run (`ledgerlake webhook`) into the landing log. Pages of another origin than
 * the folder is bound to stay outside, with a warning.
 */
async function takeIncomingPages(build: Database, folder: DataFolder, log: Logger): Promise<void> {
  await takeIncoming({
    incoming: folder.incoming,
    landing: folder.landing,
    isTaken: async (segment) => {
      const { staging, archive } = folder;
      const paths = [join(staging, `${segment}`), join(archive, `${segment}.pages.parquet`)];
      return (await Promise.all(paths.map(exists))).includes(true);
    },
    mayComeFrom: (origins, place) =>
      bindSource(build, origins).then(
        () => true,
        (error) => {
          if (!(error instanceof UsageError)) throw error;
          log.warn(
            { place, origins },
            'ignored a page from another origin than the one this data folder is bound to',
          );
          return false;
        },
      ),
  });
}
