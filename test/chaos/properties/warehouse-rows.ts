import { DuckDBInstance } from '@duckdb/node-api';

/** A row of `assets`, as far as the ledgers have something to say of it. */
export interface AssetRow {
  id: string;
  owner: string | null;
  name: string | null;
  burnt: boolean;
  collection: string | null;
  slot: number;
  content_slot: number | null;
  first_seen_slot: number;
  changed_slot: number;
}

/** A version of a row of `assets`. */
export interface VersionRow {
  id: string;
  owner: string | null;
  name: string | null;
  burnt: boolean;
  collection: string | null;
  content_slot: number | null;
  valid_from_slot: number;
  /** Exclusive; null: it is current. */
  valid_to_slot: number | null;
  gone_reason: string | null;
}

/** A complete checkpoint of a list. */
export interface CheckpointRow {
  job: string;
  target: string;
  /** `2/3`: of the second of three ranges of ids; empty: of the whole list. */
  range: string;
  min_slot: number;
  max_slot: number;
}

/** A signature seen in a feed; `tx_slot` is NULL where compression_signatures lacks it. */
export interface SignatureRow {
  address: string;
  signature: string;
  tx_slot: number | null;
}

export interface CoverageRow {
  job: string;
  target: string;
  state: 'covered' | 'gap';
  low_slot: number;
  high_slot: number;
}

/** What a snapshot says of the moving ledgers. */
export interface Tables {
  assets: AssetRow[];
  /** Oldest version first. */
  versions: VersionRow[];
  checkpoints: CheckpointRow[];
  signatures: SignatureRow[];
  /** Signatures that compression_signatures has twice. */
  twice: { signature: string }[];
  coverage: CoverageRow[];
}

/** Slots here are far below 2^53. */
export const number = (names: string) =>
  names
    .split(' ')
    .map((name) => `${name}::double as ${name}`)
    .join(', ');

const queries: Record<keyof Tables, string> = {
  assets: `select id, owner, name, burnt, collection, ${number('slot content_slot first_seen_slot changed_slot')} from assets`,
  versions: `select id, owner, name, burnt, collection, gone_reason, ${number('content_slot valid_from_slot valid_to_slot')}
    from assets_history order by id, assets_history.valid_from_slot, assets_history.valid_from`,
  checkpoints: `select job, target, range, ${number('min_slot max_slot')} from meta.checkpoints where state = 'complete' and kind = 'full'`,
  signatures: `select address, signature, ${number('tx_slot')} from compression_signature_sources
    left join (select signature, any_value(tx_slot) as tx_slot from compression_signatures group by signature) using (signature)
    where source = 'address'`,
  twice: 'select signature from compression_signatures group by signature having count(*) > 1',
  coverage: `select job, target, state, ${number('low_slot high_slot')} from meta.coverage order by job, target, low_slot`,
};

export function readTables(snapshot: string): Promise<Tables> {
  return readQueries<Tables>(snapshot, queries);
}

/** What each query gives, by its name. */
export async function readQueries<T extends object>(
  snapshot: string,
  queries: Readonly<Record<keyof T, string>>,
): Promise<T> {
  const instance = await DuckDBInstance.create(snapshot, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  try {
    const rows: Record<string, unknown> = {};
    for (const [name, sql] of Object.entries<string>(queries))
      rows[name] = (await connection.runAndReadAll(sql)).getRowObjectsJson();
    return rows as T;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
