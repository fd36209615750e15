import type { DuckDBValue } from '@duckdb/node-api';
import { Field, makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from 'apache-arrow';
import type { QueryResult } from '../warehouse/query.ts';
import { arrowColumn } from './arrow-column.ts';

/**
 * A query's result as an Arrow IPC stream. A record batch has about 2,048 rows, and only one is in memory at a time. Values
 * are exact (arrow-column.ts). A result without rows is a stream with its schema.
 */
export async function* arrowBytes(result: QueryResult): AsyncGenerator<Buffer> {
  const writer = new PieceWriter();
  for await (const batch of recordBatches(result)) {
    writer.write(batch);
    yield writer.take();
  }
  writer.finish();
  yield writer.take();
}

/**
 * Buffers what it writes until `take`. The package's own streams are not in the bundle, and its queue accepts batches
 * faster than they are read.
 */
class PieceWriter extends RecordBatchStreamWriter {
  #pieces: Uint8Array[] = [];

  protected override _write(chunk: ArrayBufferView): this {
    if (!this._started || chunk.byteLength === 0) return this;
    this.#pieces.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this._position += chunk.byteLength;
    return this;
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return bytes;
  }
}

async function* recordBatches({ columns, rows }: QueryResult): AsyncGenerator<RecordBatch> {
  const typed = columns.map(({ type }) => arrowColumn(type));
  const fields = columns.map(({ name }, n) => new Field(name, typed[n]!.type, true));
  const schema = new Schema(fields);
  const makeBatch = (chunk: readonly DuckDBValue[][]) => {
    const children = typed.map((column, n) => column.make(chunk.map((row) => row[n] ?? null)));
    const type = new Struct(fields);
    return new RecordBatch(schema, makeData({ type, length: chunk.length, nullCount: 0, children }));
  };
  let isEmpty = true;
  for await (const chunk of rows()) {
    if (chunk.length === 0) continue;
    isEmpty = false;
    yield makeBatch(chunk);
  }
  if (isEmpty) yield makeBatch([]);
}
