/** Every `refusal` of a record: what its source did not give, and what DuckDB would not read. */
export const recordRefusals = [
  'the answer had an error in its place',
  'the answer had null in its place',
  'lone-surrogate',
  'too-deep',
] as const;

/**
 * One record to land: its own bytes, and the reason if DuckDB cannot read it. It holds offsets into a buffer, because a view of
 * the buffer is three times as large and there is one for each record; `bytes` makes the view.
 */
export class LandingRecord {
  /** The answer; or a copy of the record, in which raw newlines and CRs between tokens are spaces (the only change). */
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  /** The member's decoded name, if the answer is an object keyed by id. */
  key: string | undefined = undefined;
  /**
   * Why the text is kept as a string, for the load to quarantine. The splitter sets it for valid JSON that DuckDB would refuse.
   * Measured with read_json (VARCHAR, JSON, STRUCT and MAP columns, also when another field is read) and
   * read_ndjson_objects of DuckDB 1.5.5:
   * - `lone-surrogate`: half a pair, high or low, a pair reversed or a high one twice, in a value or a key, fails the whole
   *   file. All of them keep `\u0000` exactly, as they do other control escapes, U+FFFF, 400 digit numbers and 1e999.
   * - `too-deep`: see MAX_DEPTH.
   */
  refusal: (typeof recordRefusals)[number] | undefined = undefined;
  /**
   * The record's keys and kinds of values, as JSON: the same objects and keys, 0 for every string, number and boolean, and one
   * element of each form in an array. Records of one form differ in values only, so their keys need be looked at once.
   * Undefined for records of which there are too many forms.
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
