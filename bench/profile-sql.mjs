// Where a command's time in DuckDB goes: preloaded, it times every statement and prints the slowest kinds at the end,
// with the CPU time of the whole process meanwhile and the moments between which they ran. Statements run beside the
// crawl, so sums may exceed the run.
//   node --import ./bench/profile-sql.mjs dist/cli.js run …
import { duckdb } from '../dist/duckdb.js';

const { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } = duckdb;

const kinds = new Map();

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

function note(kind, from, cpuFrom) {
  const to = performance.now();
  const known = kinds.get(kind) ?? { count: 0, ms: 0, cpu: 0, from, to };
  const { count, ms, cpu } = known;
  kinds.set(kind, {
    count: count + 1,
    ms: ms + to - from,
    cpu: cpu + cpuMs() - cpuFrom,
    from: known.from,
    to,
  });
}

/** Statements that differ in names and numbers only are of one kind. */
function kindOf(sql) {
  return sql
    .replace(/'[^']*'/g, "'…'")
    .replace(/\d+/g, '0')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 110);
}

for (const [owner, method, name] of [
  [DuckDBConnection.prototype, 'run', kindOf],
  [DuckDBConnection.prototype, 'runAndReadAll', kindOf],
  [DuckDBPreparedStatement.prototype, 'run', () => '(prepared, also inside the others)'],
  [DuckDBInstance, 'create', () => '(open a database)'],
]) {
  const inner = owner[method];
  owner[method] = async function (...args) {
    const from = performance.now();
    const cpuFrom = cpuMs();
    try {
      return await inner.apply(this, args);
    } finally {
      note(name(args[0]), from, cpuFrom);
    }
  };
}

const { closeSync } = DuckDBInstance.prototype;
DuckDBInstance.prototype.closeSync = function () {
  const from = performance.now();
  const cpuFrom = cpuMs();
  closeSync.call(this);
  note('(close a database)', from, cpuFrom);
};

process.on('exit', () => {
  const lines = [...kinds].sort((a, b) => b[1].ms - a[1].ms).slice(0, 25);
  console.error(`\n${(performance.now() / 1000).toFixed(2)} s, CPU ${(cpuMs() / 1000).toFixed(2)} s\n`);
  console.error('     ms  CPU ms  times  from–to s      statement');
  for (const [kind, { count, ms, cpu, from, to }] of lines) {
    const span = `${(from / 1000).toFixed(2)}–${(to / 1000).toFixed(2)}`;
    console.error(
      `${ms.toFixed(0).padStart(7)} ${cpu.toFixed(0).padStart(7)} ${String(count).padStart(6)}  ${span.padEnd(13)}  ${kind}`,
    );
  }
});
