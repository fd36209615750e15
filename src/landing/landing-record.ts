/**
 * One record to land: its own bytes, and what stands in the way of DuckDB reading it. A place in a buffer rather than a
 * view of it, because there are as many as records: a view is three times as large, and is made only where it is asked for.
 */
export class LandingRecord {
  /** The answer; or a copy, where a raw newline or CR between tokens became a space: the only change. */
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  /** The member's name, decoded, where records stand in an object keyed by id. */
  key: string | undefined = undefined;
  /**
   * Set when the text is kept as a string beside the readable records, to be quarantined by the load. The splitter sets it
   * where DuckDB would refuse what is JSON. Measured with read_json (VARCHAR, JSON, STRUCT and MAP columns, also when
   * another field is read) and read_ndjson_objects of DuckDB 1.5.5:
   * - `lone-surrogate`: half a pair, high or low, a pair reversed or a high one twice, in a value or a key,
   *   fails the whole file. NUL is no reason: `\u0000` is kept exactly by all of them, as are other control
   *   escapes, U+FFFF, 400 digit numbers and 1e999.
   * - `too-deep`: see MAX_DEPTH.
   */
  refusal: string | undefined = undefined;
  /**
   * A record like it with nothing in it, as JSON: the same objects, keys and lists, 0 for every string, number and
   * boolean, and of a list's elements those that differ in form. Records of one form differ in values only, so what
   * is to be known of their keys has to be found out once. None for some of those whose forms are too many.
   */
  form: string | undefined = undefined;

  constructor(source: Buffer, start = 0, end = source.length) {
    this.source = source;
    this.start = start;
    this.end = end;
  }

  get length(): number {
    return this.end - this.start;
  }

  get bytes(): Buffer {
    return this.source.subarray(this.start, this.end);
  }
}
