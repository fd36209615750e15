// Builds dist/ from src/: the program with its packages in a few files. A command that would read four hundred files
// of packages one by one reads some thirty (docs/adr/0005-bundle.md).
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const dist = 'dist';
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
rmSync(dist, { recursive: true, force: true });
await build({
  // DuckDB's package is a file that tests and bench/ can find, to see what is asked of it.
  entryPoints: ['src/cli.ts', { in: 'src/warehouse/duckdb.ts', out: 'duckdb' }],
  outdir: dist,
  bundle: true,
  // What a command does not need stays in a file that it does not read. All lie in dist/ itself: see src/package-root.ts.
  splitting: true,
  chunkNames: '[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // It loads a library that is built for one machine.
  external: ['@duckdb/node-bindings'],
  alias: { undici: './scripts/undici-pool.cjs' },
  // What is still CommonJS among the packages requires Node's own modules.
  banner: {
    js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
  },
  // A third less to read before anything runs. Names stay, for stack traces.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
