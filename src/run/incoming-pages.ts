import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { takeIncoming } from '../landing/incoming.ts';
import { exists } from '../landing/segment-files.ts';
import { bindSource } from '../warehouse/build.ts';
import type { Database } from '../warehouse/database.ts';

/**
 * Takes pages that were received outside a run (`ledgerlake webhook`) into the landing log of this session. Those of
 * another origin than the folder is bound to stay outside, with a warning.
 */
export async function takeIncomingPages(build: Database, folder: DataFolder, log: Logger): Promise<void> {
  await takeIncoming({
    incoming: folder.incoming,
    landing: folder.landing,
    isTaken: async (segment) => {
      const { staging, archive } = folder;
      const places = [join(staging, `${segment}`), join(archive, `${segment}.pages.parquet`)];
      return (await Promise.all(places.map(exists))).includes(true);
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
