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
  /** In the answer's order; in keyed form, a key that comes twice is two records. */
  records: LandingRecord[];
  /** The document without its records: record array → [], keyed object → {}, single → null. */
  envelope: unknown;
  /** The same as the text it came as, in which numbers above 2^53 are still themselves; no whitespace around it. */
  envelopeText: string;
  /** The answer had a top-level `result`. */
  enveloped: boolean;
}

/** Where one candidate for the records was found: below `result`, or below the root. */
interface Found {
  records: LandingRecord[];
  /** Bounds of the value that holds the records; `end` 0 when there is none. */
  start: number;
  end: number;
  /** Where a key of the path came for the second time; 0 when none did. */
  twiceAt: number;
}

/**
 * Splits one answer into its records' bytes and the rest, in one pass that also checks the JSON grammar.
 *
 * The path counts from the top-level `result` when there is one, else from the root. Where the path is missing,
 * or its value is not of the form, there are no records and the envelope is the whole document. So it is, with
 * an empty path, for an RPC error: `jsonrpc` without `result` is not a bare record.
 * A byte order mark before the document is passed: RFC 8259 allows it, and asking again, for the same mark,
 * would pay twice.
 *
 * Throws MalformedPage: not UTF-8, not JSON, `result`, an envelope's `error` or a key of the path twice in one object
 * (which of two lists is the answer?), an envelope deeper than MAX_DEPTH.
 */
export function splitPage(body: Buffer, at: RecordsAt): SplitPage {
  const scan = new JsonScanner(body, forms);
  const from = scan.pos;
  const { found, enveloped } = findRecords(scan, at);
  const to = scan.pos;
  scan.end();
  if (found.twiceAt > 0)
    throw new MalformedPage('a key of the path to the records comes twice,', found.twiceAt);
  const filler = { array: '[]', keyed: '{}', single: 'null' }[at.form];
  const envelope =
    found.end === 0
      ? body.subarray(from, to)
      : Buffer.concat([body.subarray(from, found.start), Buffer.from(filler), body.subarray(found.end, to)]);
  const envelopeText = envelope.toString();
  return { records: found.records, envelope: parseEnvelope(envelope, envelopeText), envelopeText, enveloped };
}

/**
 * Values of an envelope, each in the bytes it came in: those that `at` leads to, counted as splitPage does. None
 * where nothing of the form is there; of a key that comes twice, the first.
 */
export function sliceEnvelope(envelopeText: string, at: RecordsAt): Buffer[] {
  const { found } = findRecords(new JsonScanner(Buffer.from(envelopeText), forms), at);
  return found.records.map(({ bytes }) => bytes);
}

/** The exact bytes of `result`, or of the whole answer when bare; in both cases without whitespace around them. */
export function sliceResult(body: Buffer): Buffer {
  const scan = new JsonScanner(body, forms);
  const from = scan.pos;
  const { found } = findRecords(scan, { path: [], form: 'single' });
  const to = scan.pos;
  scan.end();
  return found.end > 0 ? body.subarray(found.start, found.end) : body.subarray(from, to);
}

function findRecords(scan: JsonScanner, at: RecordsAt): { found: Found; enveloped: boolean } {
  const atRoot: Found = { records: [], start: 0, end: 0, twiceAt: 0 };
  const inResult: Found = { records: [], start: 0, end: 0, twiceAt: 0 };
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
  // Only at its end is it known that a bare object is itself the records: these few, small answers are read twice.
  if (at.path.length === 0 && !rpc) {
    scan.pos = start;
    take(scan, at.form, atRoot);
  }
  return { found: atRoot, enveloped };
}

/** At a value: follows the path from `level` on. Recursion as deep as the path, whatever the document. */
function locate(scan: JsonScanner, at: RecordsAt, level: number, found: Found): void {
  if (level === at.path.length) take(scan, at.form, found);
  else if (scan.peek() === OPEN_OBJECT) scan.members(pathStep(scan, at, level, found));
  else scan.skip();
}

/** What to do at each member of an object on the path. */
function pathStep(scan: JsonScanner, at: RecordsAt, level: number, found: Found): (key: string) => void {
  let seen = false;
  return (key) => {
    if (key !== at.path[level]) return scan.skip();
    if (!seen) {
      seen = true;
      return locate(scan, at, level + 1, found);
    }
    // Kept for later: below the root it means nothing if a `result` follows.
    found.twiceAt = scan.pos;
    scan.skip();
  };
}

/** At the value the path leads to: takes its records, if it is of the form. */
function take(scan: JsonScanner, form: RecordsAt['form'], found: Found): void {
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
  const end = scan.skip(ROOT);
  const record = scan.brokenLine
    ? onOneLine(scan.bytes.subarray(start, scan.pos))
    : new LandingRecord(scan.bytes, start, scan.pos);
  if (scan.depth > MAX_DEPTH) record.refusal = 'too-deep';
  else if (scan.loneSurrogate) record.refusal = 'lone-surrogate';
  else record.form = forms.formAt(end, () => tellForm(new JsonScanner(record.bytes, forms)));
  // Cleared behind a record, not before: a keyed record's own key comes before it and counts.
  scan.loneSurrogate = false;
  return record;
}

/** At a value: its form. */
function tellForm(scan: JsonScanner): string {
  const parts: string[] = [];
  const first = scan.peek();
  if (first === OPEN_OBJECT) {
    scan.members((key) => parts.push(`${JSON.stringify(key)}:${tellForm(scan)}`));
    return `{${parts.join(',')}}`;
  }
  if (first === OPEN_ARRAY) {
    scan.elements(() => parts.push(tellForm(scan)));
    return `[${[...new Set(parts)].join(',')}]`;
  }
  scan.skip();
  return first === LOWER_N ? 'null' : '0';
}

/** A copy; in valid JSON a raw newline or CR stands between tokens only. */
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
