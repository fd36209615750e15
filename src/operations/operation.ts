import * as z from 'zod';

/** The interfaces of the API. Each has a base URL (LEDGERLAKE_RPC_URL, …_WALLET_URL, …_WEBHOOK_URL). */
export type Transport = 'rpc' | 'wallet' | 'webhook';

/** Rate pools. The requests of a pool share one limit. */
export const pools = ['das', 'compression', 'proof', 'fee', 'wallet', 'webhook'] as const;
export type Pool = (typeof pools)[number];

/**
 * How an operation's answers are paged.
 * - `keyset`: by cursor if the server gives one, else by page number (the asset and token-account lists)
 * - `cursor`: opaque cursors only
 * - `feed`: opaque cursors, newest first, recorded as intervals in `meta.coverage`
 * - `pages`: page numbers only, with a flag whether there are more
 * - `batch`: a frozen list of ids, sliced at the operation's limit
 * - `none`: one answer
 */
export type Paging = 'keyset' | 'cursor' | 'feed' | 'pages' | 'batch' | 'none';

/** Where the records are in an answer, below `result` if it has an envelope. */
export interface RecordsAt {
  /** Keys from the result down to the records: `['value', 'items']`. */
  path: readonly string[];
  /** `array`: each element is a record. `keyed`: each member is a record, its key the record's id. `single`: the value is one. */
  form: 'array' | 'keyed' | 'single';
}

/** The order of a feed's records, newest first. */
export interface FeedOrder {
  /**
   * `slot`: by their `slot`. An answer covers up to the slot that it reflects.
   * `time`: by their Unix time in seconds, because answers and some records have no slot. An answer covers up to its newest
   * record.
   */
  readonly by: 'slot' | 'time';
  /** The member of a record with its Unix time. */
  readonly timeMember: string;
  /** How far back the first crawl goes by default. */
  readonly since: '1d' | 'all';
}

/** Parameters by the spec's names; `undefined` members are left out. */
export type Params = Record<string, unknown>;

/** One operation of the API, as the crawl, the client and the loader need it. */
export interface Operation {
  /** The JSON-RPC method, or our name of a REST endpoint. */
  readonly name: string;
  /** One sentence for `ledgerlake methods`. */
  readonly describe: string;
  readonly transport: Transport;
  /** REST only: HTTP method and path; `{name}` is filled from the parameter of that name. */
  readonly rest?: { method: 'GET' | 'POST' | 'PATCH'; path: string };
  /** Parameters that a caller may give. The crawl sets those of paging. */
  readonly params: z.ZodObject;
  /** The schema of a target's `param`, if the parameter `where` has the value `is`. */
  readonly valueWhere?: { param: string; where: string; is: string; value: z.ZodType };
  /** At least one of these parameters must be given. */
  readonly anyOf?: readonly string[];
  /** Whether only one of `anyOf` may be given. */
  readonly onlyOne?: boolean;
  readonly paging: Paging;
  /** Paging `feed` only. */
  readonly feed?: FeedOrder;
  /** Paging `batch` only: the parameter that takes the ids. */
  readonly batchParam?: string;
  /** Records (or ids) per request at most; null for an operation without such a parameter. */
  readonly limit: number | null;
  readonly records: RecordsAt;
  /**
   * The requested record may not exist. Then `null` instead of the record, a "not found" error or a wallet's 404 are answers.
   * Everywhere else they are broken answers.
   */
  readonly mayBeUnknown?: true;
  /** Key paths below the result of the page's slot; the first with an integer counts. */
  readonly slotAt: readonly (readonly string[])[];
  /** Key path below the result of the next cursor. */
  readonly cursorAt?: readonly string[];
  /** The parameter that takes the cursor; default `cursor`. */
  readonly cursorParam?: string;
  /** Key path below the result of the flag that says whether there are more. */
  readonly moreAt?: readonly string[];
  /** The member by which records form groups. Records of a group are adjacent, and may continue on the next page. */
  readonly groupBy?: string;
  /** The member of a record with its id, by which a `keyset` list is ordered unless it is sorted otherwise. */
  readonly idMember?: string;
  /** A member of the answer that is never stored. Before anything reads it, `flag` replaces it: true, or false if it is empty. */
  readonly secretMember?: { readonly name: string; readonly flag: string };
  readonly pool: Pool;
  /** Credits per call; `api.credits` overrides them. */
  readonly credits: number;
  /** Shape of the records; `-- shapes:` in `sql/tables/` names its tables. */
  readonly shape: string;
  /** The first table of the shape. */
  readonly table: string;
  /** Groups for which an absent key or `{}` is a value (getAsset, getAssetBatch). For others absence means nothing. */
  readonly carries?: readonly string[];
  /** Groups that the answer carries if a member of `options` requests them: option → group. */
  readonly carriesWith?: Readonly<Record<string, string>>;
}

/** An address or hash: 32 bytes in base58. */
export const address = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'expected a base58 address of 32 to 44 characters');

/** A transaction signature: 64 bytes in base58. */
export const signature = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'expected a base58 signature of 64 to 88 characters');

export const sortBy = z
  .strictObject({
    sortBy: z.enum(['id', 'created', 'updated', 'recent_action', 'none']),
    sortDirection: z.enum(['asc', 'desc']).optional(),
  })
  .describe('Order of the list; anything but `id` pages by number');

export const displayOptions = z
  .strictObject({
    showUnverifiedCollections: z.boolean().optional().describe('Groupings of unverified collections too'),
    showCollectionMetadata: z.boolean().optional().describe('The metadata of the collection'),
    showFungible: z.boolean().optional().describe('Fungible tokens too'),
    showInscription: z.boolean().optional().describe('Inscription details'),
  })
  .describe('Display options');
