import { number, readQueries } from '../properties/warehouse-rows.ts';

export interface AccountFacts {
  address: string;
  mint: string;
  owner: string;
  amount: string;
}

export interface AssetFacts {
  id: string;
  owner: string;
  collection: string;
  burnt: boolean;
  name: string | null;
  supply: string | null;
  content_slot: number | null;
  token_info_slot: number | null;
}

/** What is true now. */
export interface Confirmed {
  /** Slot of the answer that last said so. */
  slot: number;
}

/** Of a row: what it was between two slots. */
export interface Span {
  valid_from_slot: number;
  /** Exclusive; null: it is current. */
  valid_to_slot: number | null;
  gone_reason: string | null;
}

/** What a snapshot says of the ledger. */
export interface Tables {
  accounts: (AccountFacts & Confirmed)[];
  assets: (AssetFacts & Confirmed)[];
  /** Oldest version first. */
  accountVersions: (AccountFacts & Span)[];
  assetVersions: (AssetFacts & Span)[];
  signatures: { signature: string; slot: number }[];
  coverage: { job: string; state: string; low_slot: number; high_slot: number }[];
}

const account = 'address, mint, owner, amount::varchar as amount';
const asset = `id, owner, collection, burnt, name, token_supply::varchar as supply, ${number('content_slot token_info_slot')}`;
const span = `${number('valid_from_slot valid_to_slot')}, gone_reason`;

const queries: Record<keyof Tables, string> = {
  accounts: `select ${account}, ${number('slot')} from token_accounts order by address`,
  assets: `select ${asset}, ${number('slot')} from assets order by id`,
  accountVersions: `select ${account}, ${span} from token_accounts_history as h
    order by address, h.valid_from_slot, h.valid_from, h.valid_to_slot`,
  assetVersions: `select ${asset}, ${span} from assets_history as h
    order by id, h.valid_from_slot, h.valid_from, h.valid_to_slot`,
  signatures: 'select signature, tx_slot::double as slot from compression_signatures order by signature',
  coverage: `select job, state, ${number('low_slot high_slot')} from meta.coverage order by job, meta.coverage.low_slot`,
};

export function readTables(snapshot: string): Promise<Tables> {
  return readQueries<Tables>(snapshot, queries);
}
