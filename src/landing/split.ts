import type { RecordsAt } from '../operations/operation.ts';
import { JsonScanner, LOWER_N, MalformedPage, OPEN_ARRAY, OPEN_OBJECT } from './json-scanner.ts';
import { LandingRecord } from './landing-record.ts';
import { RecordForms, ROOT } from './record-forms.ts';

export { MalformedPage } from './json-scanner.ts';

/**
 * Deepest nesting a record may have, counted from the record itself, and an envelope.
 * Measured with DuckDB 1.5.5 on a stack of 8 MB, each depth in its own process. It never refuses: it dies
 * (SIGSEGV). Nested objects: read_json with sniffed types from 4,700 on, read_json into a JSON, VARCHAR or
 * STRUCT column from 16,500, json_merge_patch from 52,000; nested arrays: read_json from 64,000.
 * read_ndjson_objects, json_extract and a COPY to Parquet survived 3,000,000. 200 leaves room for a thread
 * with a sixteenth of that stack (macOS: 512 KB); records of this API are less than 10 deep.
 */
export const MAX_DEPTH = 200;

const forms = new RecordForms();

export interface SplitPage {
  /** In the answer's order. In keyed form, a key that appears twice is two records. */
  records: LandingRecord[];
  /** The document without its records: record array → [], keyed object → {}, single → null. */
  envelope: unknown;
  /** The envelope as the text received, without whitespace around it: numbers above 2^53 are exact in it. */
  envelopeText: string;
  /** The answer had a top-level `result`. */
  enveloped: boolean;
}

/** The records found below one candidate: `result`, or the root. */
interface FoundRecords {
  records: LandingRecord[];
  /** Byte offsets of the value that holds the records; `end` is 0 if there is none. */
  start: number;
  end: number;
  /** Byte offset at which a key of the path appears for the second time; 0 if none does. */
  duplicateAt: number;
}

/**
 * Splits one answer into its records' bytes and the rest, in one pass that also checks the JSON grammar.
 *
 * The path begins at the top-level `result` if there is one, else at the root. If the path is missing, or its value is not
 * of the form, there are no records and the envelope is the whole document. The same holds, with an empty path, for an
 * RPC error: `jsonrpc` without `result` is not a bare record.
 * A byte order mark before the document is skipped: RFC 8259 allows it, and another request would pay for the same mark.
 *
 * @throws MalformedPage: not UTF-8; not JSON; `result`, an envelope's `error` or a key of the path twice in one object
 *   (which of two lists is the answer?); an envelope deeper than MAX_DEPTH
 */
export function splitPage(body: Buffer, at: RecordsAt): SplitPage {
  const scan = new JsonScanner(body, forms);
  const from = scan.pos;
  const { found, enveloped } = findRecords(scan, at);
  const to = scan.pos;
  scan.end();
  if (found.duplicateAt > 0)
    throw new MalformedPage('a key of the path to the records comes twice,', found.duplicateAt);
  const filler = { array: '[]', keyed: '{}', single: 'null' }[at.form];
  const envelope =
    found.end === 0
      ? body.subarray(from, to)
      : Buffer.concat([body.subarray(from, found.start), Buffer.from(filler), body.subarray(found.end, to)]);
  const envelopeText = envelope.toString();
  return { records: found.records, envelope: parseEnvelope(envelope, envelopeText), envelopeText, enveloped };
}

/**
 * The exact bytes of the values in an envelope that `at` leads to, counted as splitPage does. There are none if nothing
 * there is of the form. Of a key that appears twice, the first counts.
 */
export function sliceEnvelope(envelopeText: string, at: RecordsAt): Buffer[] {
  const { found } = findRecords(new JsonScanner(Buffer.from(envelopeText), forms), at);
  return found.records.map(({ bytes }) => bytes);
}

/** The exact bytes of `result`, or of the whole answer if it has none, without whitespace around them. */
export function sliceResult(body: Buffer): Buffer {
  const scan = new JsonScanner(body, forms);
  const from = scan.pos;
  const { found } = findRecords(scan, { path: [], form: 'single' });
  const to = scan.pos;
  scan.end();
  return found.end > 0 ? body.subarray(found.start, found.end) : body.subarray(from, to);
}

function findRecords(scan: JsonScanner, at: RecordsAt): { found: FoundRecords; enveloped: boolean } {
  const atRoot: FoundRecords = { records: [], start: 0, end: 0, duplicateAt: 0 };
  const inResult: FoundRecords = { records: [], start: 0, end: 0, duplicateAt: 0 };
  if (scan.peek() !== OPEN_OBJECT) {
    locate(scan, at, 0, atRoot);
    return { found: atRoot, enveloped: false };
  }
  const start = scan.pos;
  const fromRoot = pathStep(scan, at, 0, atRoot);
  let enveloped = false;
  let rpc = false;
  let errors = 0;
  scan.members((key) => {
    rpc ||= key === 'jsonrpc';
    if (key === 'error') errors += 1;
    if (key !== 'result') return fromRoot(key);
    if (enveloped) throw new MalformedPage('a second result', scan.pos);
    enveloped = true;
    locate(scan, at, 0, inResult);
  });
  if ((enveloped || rpc) && errors > 1) throw new MalformedPage('a second error', scan.pos);
  if (enveloped) return { found: inResult, enveloped };
  // That a bare object is itself the records is known only at its end: these few, small answers are read twice.
  if (at.path.length === 0 && !rpc) {
    scan.pos = start;
    take(scan, at.form, atRoot);
  }
  return { found: atRoot, enveloped };
}

/** At a value: follows the path from `level` on. Recursion as deep as the path, whatever the document. */
function locate(scan: JsonScanner, at: RecordsAt, level: number, found: FoundRecords): void {
  if (level === at.path.length) take(scan, at.form, found);
  else if (scan.peek() === OPEN_OBJECT) scan.members(pathStep(scan, at, level, found));
  else scan.skip();
}

/** The visitor for the members of an object on the path. */
function pathStep(
  scan: JsonScanner,
  at: RecordsAt,
  level: number,
  found: FoundRecords,
): (key: string) => void {
  let seen = false;
  return (key) => {
    if (key !== at.path[level]) return scan.skip();
    if (!seen) {
      seen = true;
      return locate(scan, at, level + 1, found);
    }
    // Not an error yet: below the root it does not matter if a `result` follows.
    found.duplicateAt = scan.pos;
    scan.skip();
  };
}

/** At the value that the path leads to: takes its records if it is of the form, else skips it. */
function take(scan: JsonScanner, form: RecordsAt['form'], found: FoundRecords): void {
  const { records } = found;
  const start = scan.pos;
  scan.loneSurrogate = false;
  if (form === 'single') records.push(takeRecord(scan));
  else if (form === 'array' && scan.peek() === OPEN_ARRAY)
    scan.elements(() => records.push(takeRecord(scan)));
  else if (form === 'keyed' && scan.peek() === OPEN_OBJECT) {
    scan.members((key) => {
      const record = takeRecord(scan);
      record.key = key;
      records.push(record);
    });
  } else {
    scan.skip();
    return;
  }
  found.start = start;
  found.end = scan.pos;
}

function takeRecord(scan: JsonScanner): LandingRecord {
  const start = scan.pos;
  scan.depth = 0;
  scan.brokenLine = false;
  const formEnd = scan.skip(ROOT);
  const record = scan.brokenLine
    ? onOneLine(scan.bytes.subarray(start, scan.pos))
    : new LandingRecord(scan.bytes, start, scan.pos);
  if (scan.depth > MAX_DEPTH) record.refusal = 'too-deep';
  else if (scan.loneSurrogate) record.refusal = 'lone-surrogate';
  else record.form = forms.formOf(formEnd, () => describeForm(new JsonScanner(record.bytes, forms)));
  // Reset behind a record, not before: a keyed record's own key comes before it and counts.
  scan.loneSurrogate = false;
  return record;
}

/** Consumes a value and returns its form as JSON text (see `LandingRecord.form`). */
function describeForm(scan: JsonScanner): string {
  const parts: string[] = [];
  const first = scan.peek();
  if (first === OPEN_OBJECT) {
    scan.members((key) => parts.push(`${JSON.stringify(key)}:${describeForm(scan)}`));
    return `{${parts.join(',')}}`;
  }
  if (first === OPEN_ARRAY) {
    scan.elements(() => parts.push(describeForm(scan)));
    return `[${[...new Set(parts)].join(',')}]`;
  }
  scan.skip();
  return first === LOWER_N ? 'null' : '0';
}

/** A copy without raw newlines and CRs, which valid JSON has between tokens only. */
function onOneLine(bytes: Buffer): LandingRecord {
  const line = Buffer.from(bytes);
  for (const [i, byte] of line.entries()) if (byte === 0x0a || byte === 0x0d) line[i] = 0x20;
  return new LandingRecord(line);
}

function parseEnvelope(envelope: Buffer, text: string): unknown {
  const scan = new JsonScanner(envelope, forms);
  scan.skip();
  if (scan.depth > MAX_DEPTH) throw new MalformedPage(`more than ${MAX_DEPTH} levels around the records`, 0);
  return JSON.parse(text);
}
