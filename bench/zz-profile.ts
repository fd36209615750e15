import { mkdtempSync } from 'node:fs';
import { quiet, targetsOf, warm } from './contestants.ts';
import { openPlace } from './place.ts';
import { startServer } from './start-server.ts';

const n = Number(process.argv[2] ?? 100000);
const targets = targetsOf('asset', n);
const server = await startServer(targets);
const dir = mkdtempSync('/tmp/dgprof-');
const bench = { options: {} as never, url: server.url, dir };
const place = openPlace(dir, server.url, { lake: false });
place.addJob('all', targets);
await warm(bench, targets);
for (let i = 0; i < 3; i++) {
  if (i > 0) await fetch(`${server.url}/_bench/night`);
  const out: string[] = [];
  for (const cmd of [['crawl', 'all'], ['load'], ['publish']]) {
    const m = await place.cli(...cmd, ...quiet);
    out.push(
      `${cmd[0]} cpu ${m.cpuSeconds.toFixed(2)} wall ${m.seconds.toFixed(2)} peak ${m.peakMb.toFixed(0)}`,
    );
  }
  console.log(i, out.join(' | '));
}
await fetch(`${server.url}/_bench/night`);
const m = await place.cli('run', 'all', ...quiet);
console.log('run unchanged cpu', m.cpuSeconds, m.seconds, m.peakMb);
server.close();
if (process.argv[3] === 'keep') console.log(place.data, dir);
else place.remove();
