import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import type { CompressedAccountTruth } from '../../../src/sandbox/truth-compression.ts';
import type { WorldOptions } from '../../../src/sandbox/world.ts';
import type { Truth } from '../../../src/sandbox/world-truth.ts';
import { type Ended, runProgram } from '../../support/program.ts';
import { openWorkplace, type Workplace } from '../../support/workplace.ts';
import { at, canonical, parseExact, textOf } from '../exact-json.ts';
import { startRecorder } from '../recorder.ts';
import type { Row } from '../table-rows.ts';

/** A sample ledger behind a recorder, and a workplace with jobs of the test's own. */
export interface Ledger extends Workplace {
  sandbox: Sandbox;
  truth: Truth;
  /** The `result` of every answer to a method so far, as it came over the wire. */
  results(method: string): string[];
  /** `ledgerlake call`: how it ended, and the result as it came over the wire. */
  call(method: string, params: object): Promise<Ended & { result?: string }>;
}

/** @param jobs by name: the text of a job file without its description */
export async function openLedger(
  jobs: (truth: Truth) => Record<string, string>,
  options: WorldOptions = {},
): Promise<Ledger> {
  const sandbox = await startSandbox({ seed: 31, assets: 400, owners: 60, ...options });
  const wire = await startRecorder(sandbox.url);
  const truth = sandbox.world.truth();
  const files = Object.entries(jobs(truth)).map(([name, text]) => [
    `jobs/${name}.yaml`,
    `describe: test\n${text}`,
  ]);
  const place = await openWorkplace(wire.url, Object.fromEntries(files));
  onTestFinished(async () => {
    await wire.close();
    await sandbox.close();
    await place.remove();
  });
  const results = (method: string) =>
    wire.exchanges
      .filter((exchange) => exchange.method === method)
      .flatMap(({ body }) => {
        const result = at(parseExact(body), 'result');
        return result === undefined ? [] : textOf(result);
      });
  const env = { LEDGERLAKE_RPC_URL: wire.url, LEDGERLAKE_API_KEY: 'sandbox' };
  return {
    ...place,
    sandbox,
    truth,
    results,
    async call(method, params) {
      const ended = await runProgram(['call', method, JSON.stringify(params)], { cwd: place.root, env });
      const result = results(method).at(-1);
      return result === undefined ? ended : { ...ended, result };
    },
  };
}

/** What a call that worked must have given. */
export function printed(result: string | undefined) {
  return { code: 0, signal: null, stdout: `${result}\n`, stderr: '', result };
}

/** Columns that every table has, which say when a row was seen. */
export const bookkeeping = [
  'slot',
  'seen_at',
  'first_seen_slot',
  'changed_slot',
  'changed_at',
  'run_id',
  'record_hash',
];
const jsonColumns = ['burnt', 'extra'];

/** A table's rows by key (its columns joined by a space), without bookkeeping; JSON as canonical text. */
export async function readFacts(
  place: Workplace,
  table: string,
  ...key: string[]
): Promise<Map<string, Row>> {
  const rows = await place.rows<Row>(`from ${table}`);
  const facts = rows.map((row): [string, Row] => [
    key.map((column) => row[column]).join(' '),
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !bookkeeping.includes(name))
        .map(([name, value]) => [
          name,
          jsonColumns.includes(name) && typeof value === 'string' ? canonical(parseExact(value)) : value,
        ]),
    ),
  ]);
  if (new Set(facts.map(([name]) => name)).size !== rows.length)
    throw new Error(`${table}: a key comes twice`);
  return new Map(facts);
}

/** How many rows of a table have bookkeeping that one run, of slots in these bounds, cannot have written. */
export async function countOddRows(
  place: Workplace,
  table: string,
  run: string,
  low: number,
  high: number,
): Promise<number> {
  const [row] = await place.rows<{ odd: string }>(
    `select count(*) filter (where (slot between ${low} and ${high} and first_seen_slot = slot
      and changed_slot = slot and run_id = '${run}' and seen_at > now() - interval 1 hour) is not true) as odd
    from ${table}`,
  );
  return Number(row?.odd);
}

/** The row of a compressed account. */
export function accountRow(facts: CompressedAccountTruth): Row {
  return { hash: facts.hash, ...accountColumns(facts), extra: null };
}

export function accountColumns({ data, ...facts }: CompressedAccountTruth): Row {
  return {
    address: facts.address,
    owner: facts.owner,
    lamports: String(facts.lamports),
    tree: facts.tree,
    leaf_index: String(facts.leafIndex),
    seq: facts.seq === null ? null : String(facts.seq),
    slot_created: String(facts.slotCreated),
    discriminator: data === null ? null : String(data.discriminator),
    data: data === null ? null : data.data,
    data_hash: data === null ? null : data.dataHash,
  };
}

/** Token columns; all NULL for an account without tokens. */
export function tokenColumns({ token }: CompressedAccountTruth): Row {
  return {
    mint: token?.mint ?? null,
    amount: token === null ? null : String(token.amount),
    delegate: token?.delegate ?? null,
    state: token?.state ?? null,
    tlv: token?.tlv ?? null,
  };
}

const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** An address that nobody has: 32 bytes that follow from a name. */
export function freshAddress(name: string): string {
  let number = BigInt(`0x1${createHash('sha256').update(name).digest('hex').slice(1)}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = `${letters[Number(number % 58n)]}${text}`;
  return text;
}

/** `values: [...]` of a job file. */
export function values(list: Iterable<string>): string {
  return `{values: [${[...list].join(', ')}]}`;
}

/** Every member `n` of a list, from the first. */
export function every<T>(list: readonly T[], n: number): T[] {
  return list.filter((_, index) => index % n === 0);
}
