import * as z from 'zod';

/** The interfaces of the API; each has its own base URL (LEDGERLAKE_RPC_URL, …_WALLET_URL, …_WEBHOOK_URL). */
export type Transport = 'rpc' | 'wallet' | 'webhook';

/** Rate pools: requests in one pool share one limit. */
export const pools = ['das', 'compression', 'proof', 'fee', 'wallet', 'webhook'] as const;
export type Pool = (typeof pools)[number];

/**
 * How an operation's answer goes on.
 * - `keyset`: cursor when the server gives one, else page numbers (the asset and token-account lists)
 * - `cursor`: opaque cursors only
 * - `feed`: opaque cursors, newest first, kept as intervals in `meta.coverage`
 * - `pages`: page numbers only; a flag says whether there are more
 * - `batch`: a frozen list of ids, sliced at the operation's limit
 * - `none`: one answer
 */
export type Paging = 'keyset' | 'cursor' | 'feed' | 'pages' | 'batch' | 'none';

/** Where the records stand in an answer, below `result` when the answer is enveloped. */
export interface RecordsAt {
  /** Keys from the result down to the records: `['value', 'items']`. */
  path: readonly string[];
  /** `array`: one record an element. `keyed`: one record a member, its key is the record's id. `single`: the value itself. */
  form: 'array' | 'keyed' | 'single';
}

/** What the records of a feed descend by, newest first. */
export interface FeedOrder {
  /**
   * `slot`: their `slot`; an answer covers up to the slot that it says it reflects.
   * `time`: their Unix time in seconds, because neither answers nor all records say a slot; an answer covers up to its
   * newest record.
   */
  readonly by: 'slot' | 'time';
  /** The member of a record that is its Unix time. */
  readonly timeMember: string;
  /** How far back a first crawl goes when the job does not say. */
  readonly since: '1d' | 'all';
}

/** Parameters by the spec's names; `undefined` members are left out. */
export type Params = Record<string, unknown>;

/** One operation of the API: everything the crawl, the client and the loader need to know about it. */
export interface Operation {
  /** The JSON-RPC method, or the name given to a REST endpoint. */
  readonly name: string;
  /** One sentence for `ledgerlake methods`. */
  readonly describe: string;
  readonly transport: Transport;
  /** REST only: HTTP method and path; `{name}` is filled from the parameter of that name. */
  readonly rest?: { method: 'GET' | 'POST' | 'PATCH'; path: string };
  /** Parameters a caller may give (without the paging ones, which the crawl sets). */
  readonly params: z.ZodObject;
  /** What a target's value of `param` must be, where the parameter `where` has the value `is`. */
  readonly valueWhere?: { param: string; where: string; is: string; value: z.ZodType };
  /** At least one of these parameters must be given. */
  readonly anyOf?: readonly string[];
  /** True: only one of them may be given. */
  readonly onlyOne?: boolean;
  readonly paging: Paging;
  /** `feed` only. */
  readonly feed?: FeedOrder;
  /** `batch` only: the parameter that takes the ids. */
  readonly batchParam?: string;
  /** Largest page (or batch) the API takes; null when it has no such parameter. */
  readonly limit: number | null;
  readonly records: RecordsAt;
  /**
   * What is asked for may not exist: `null` in the place of the one record, an error that says "not found" or a wallet's
   * 404 is then the answer that there is none. Everywhere else each of them is a broken answer.
   */
  readonly mayBeUnknown?: true;
  /** Key paths below the result where the page's slot may stand; the first that holds an integer counts. */
  readonly slotAt: readonly (readonly string[])[];
  /** Key path below the result of the next cursor. */
  readonly cursorAt?: readonly string[];
  /** The parameter that takes the cursor, where it is not `cursor`. */
  readonly cursorParam?: string;
  /** `pages` and `cursor`: key path below the result of the flag that says whether there are more. */
  readonly moreAt?: readonly string[];
  /** The member whose equal values make records one group, which stands together and may go on on the next page. */
  readonly groupBy?: string;
  /** `keyset` only: the member of a record that is its id, by which the list is ordered unless it is sorted otherwise. */
  readonly idMember?: string;
  /** A member of the answer that is never kept: `flag`, true or false, takes its place before anything reads it. */
  readonly secretMember?: { readonly name: string; readonly flag: string };
  readonly pool: Pool;
  /** Credits one call costs by default (`api.credits` overrides). */
  readonly credits: number;
  /** Shape of the records: `-- shapes:` in `sql/tables/` names the tables they go to. */
  readonly shape: string;
  /** The first table the records go to. */
  readonly table: string;
  /** Row groups an absent key or `{}` is a value for (getAsset, getAssetBatch); elsewhere absence says nothing. */
  readonly carries?: readonly string[];
  /** The same, where a member of `options` asks for it: option → group. */
  readonly carriesWith?: Readonly<Record<string, string>>;
}

/** An address or hash: 32 bytes in base58. Source: wallet address rule. */
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
