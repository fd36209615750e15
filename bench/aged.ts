// A folder that grows old, a line a night, as JSON: CPU seconds, peak memory, sizes, row groups (bench/aging.ts).
// Usage: npx tsx bench/aged.ts --nights 60 --assets 600 --keep 10
import { parseArgs } from 'node:util';
import { openAgedFolder } from './aging.ts';

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '60' },
    assets: { type: 'string', default: '600' },
    keep: { type: 'string', default: '10' },
  },
});

const folder = await openAgedFolder({ assets: Number(values.assets), keepRawDays: Number(values.keep) });
const megabytes = (bytes: number, digits = 1) => Number((bytes / 1e6).toFixed(digits));
try {
  for (let night = 1; night <= Number(values.nights); night += 1) {
    const one = await folder.night();
    console.log(
      JSON.stringify({
        night,
        cpuSeconds: Number(one.cpuSeconds.toFixed(2)),
        peakMb: Math.round(one.peakMb),
        buildMb: megabytes(one.buildBytes),
        rowGroups: one.rowGroups,
        mostRowGroups: one.mostRowGroups,
        rows: one.rows,
        archiveMb: megabytes(one.archiveBytes),
        archiveFiles: one.archiveFiles,
        files: one.files,
        requestsMb: megabytes(one.requestsBytes, 2),
        runSeconds: Number(one.seconds.toFixed(1)),
      }),
    );
  }
} finally {
  await folder.close();
}
