// DuckDB's own COPY of a table to one Parquet file, with its defaults (all cores, most of the memory): what an export
// is compared with. Nothing is fsynced, checked, summed or renamed.
//   npx tsx bench/copy.ts <database> <table> <file to write>
import { DuckDBInstance } from '@duckdb/node-api';

const [path, table, file] = process.argv.slice(2) as [string, string, string];
const started = performance.now();
const before = process.cpuUsage();
const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
const connection = await instance.connect();
await connection.run(`copy (from "${table}") to '${file}' (format parquet, compression zstd)`);
connection.closeSync();
instance.closeSync();
const { user, system } = process.cpuUsage(before);
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6 }));
