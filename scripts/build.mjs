// Builds dist/ from src/: the program with its packages in a few files. A command that would read four hundred files
// of packages one by one reads some thirty (docs/adr/0005-bundle.md).
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const dist = 'dist';
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  metafile: true,
  // DuckDB's package gets a file of its own, so that tests and bench/ can wrap it.
  entryPoints: ['src/cli.ts', 'src/library.ts', { in: 'src/warehouse/duckdb.ts', out: 'duckdb' }],
  outdir: dist,
  bundle: true,
  // A command reads only the files that it needs. All are in dist/ itself: see src/package-root.ts.
  splitting: true,
  chunkNames: '[name]-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // It loads a library that is built for one machine.
  external: ['@duckdb/node-bindings'],
  alias: { undici: './scripts/undici-pool.cjs' },
  // CommonJS packages require Node's own modules.
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

// Types of the library. Its signatures are explicit, so tsc reads nothing else of src/.
const typed = ['src/library.ts', 'src/library-types.ts', 'src/errors.ts'];
const only = ['--ignoreConfig', '--noResolve', '--noCheck', '--declaration', '--emitDeclarationOnly'];
const syntax = ['--module', 'nodenext', '--target', 'es2023', '--allowImportingTsExtensions', '--types', ''];
execFileSync('node_modules/.bin/tsc', [...typed, ...only, ...syntax, '--rootDir', 'src', '--outDir', dist]);
for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
  const text = readFileSync(`${dist}/${file}`, 'utf8');
  writeFileSync(`${dist}/${file}`, text.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
}

// The licences of the bundled packages require a copy of each.
const packages = Object.keys(metafile.inputs).flatMap(
  (path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/.exec(path)?.[0] ?? [],
);
const texts = [...new Set(packages)].sort().flatMap((folder) => {
  const files = existsSync(folder)
    ? readdirSync(folder).filter((file) => /^(licen[cs]e|notice)(-\w+)?(\.\w+)?$/i.test(file))
    : [];
  return files.map(
    (file) =>
      `${folder.replace(/^.*node_modules\//, '')}: ${file}\n\n${readFileSync(`${folder}/${file}`, 'utf8')}`,
  );
});
writeFileSync(`${dist}/LICENSES.txt`, texts.join(`\n${'-'.repeat(80)}\n`));
