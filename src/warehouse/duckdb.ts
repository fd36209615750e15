/** DuckDB's package: a file of its own in dist/, for what watches the program from outside. */
export * as duckdb from '@duckdb/node-api';
