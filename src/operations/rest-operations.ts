import * as z from 'zod';
import { address, type Operation } from './operation.ts';

/** The transaction types of the history's filter (spec, "Transaction type filter values"). */
export const historyTypes = [
  'SWAP',
  'TRANSFER',
  'NFT_SALE',
  'NFT_BID',
  'NFT_LISTING',
  'NFT_MINT',
  'NFT_CANCEL_LISTING',
  'TOKEN_MINT',
  'BURN',
  'COMPRESSED_NFT_MINT',
  'COMPRESSED_NFT_TRANSFER',
  'COMPRESSED_NFT_BURN',
  'CREATE_STORE',
  'WHITELIST_CREATOR',
  'ADD_TO_WHITELIST',
  'REMOVE_FROM_WHITELIST',
  'AUCTION_MANAGER_CLAIM_BID',
  'EMPTY_PAYMENT_ACCOUNT',
  'UPDATE_PRIMARY_SALE_METADATA',
  'ADD_TOKEN_TO_VAULT',
  'ACTIVATE_VAULT',
  'INIT_VAULT',
  'INIT_BANK',
  'INIT_STAKE',
  'MERGE_STAKE',
  'SPLIT_STAKE',
  'CREATE_AUCTION_MANAGER',
  'START_AUCTION',
  'CREATE_AUCTION_MANAGER_V2',
  'UPDATE_EXTERNAL_PRICE_ACCOUNT',
  'EXECUTE_TRANSACTION',
] as const;

const wallet = address.describe('Address of the wallet');

const walletLookup = {
  transport: 'wallet',
  slotAt: [],
  pool: 'wallet',
  credits: 100,
} as const;

const single = {
  paging: 'none',
  limit: null,
  records: { path: [], form: 'single' },
  mayBeUnknown: true,
} as const;

/**
 * History and transfers: newest first, with an opaque cursor and a flag whether there are more. Both go by time, because only
 * records of the history have a slot. Without `since` a wallet's whole history is crawled.
 */
const walletList = {
  ...walletLookup,
  paging: 'feed',
  feed: { by: 'time', timeMember: 'timestamp', since: 'all' },
  limit: 100,
  records: { path: ['data'], form: 'array' },
  cursorAt: ['pagination', 'nextCursor'],
  moreAt: ['pagination', 'hasMore'],
} as const;

/**
 * The wallet interface: REST, pool `wallet`, in beta. Its answers have no slot. Paths and the values of `type` and
 * `tokenAccounts` are the spec's ("Wallet interface"). Other names of query parameters, and all shapes but the history's,
 * are those of public servers.
 */
export const walletOperations: readonly Operation[] = [
  {
    ...walletLookup,
    ...single,
    name: 'walletIdentity',
    describe: 'Who a wallet is known to belong to; most belong to nobody known',
    rest: { method: 'GET', path: '/v1/wallet/{wallet}/identity' },
    params: z.strictObject({ wallet }),
    shape: 'wallet_identity',
    table: 'wallet_identities',
  },
  {
    ...walletLookup,
    name: 'walletBatchIdentity',
    describe: 'Identities of up to 100 wallets a request; unknown ones are missing in the answer',
    rest: { method: 'POST', path: '/v1/wallet/batch-identity' },
    params: z.strictObject({ addresses: z.array(address).min(1).describe('Addresses of the wallets') }),
    paging: 'batch',
    batchParam: 'addresses',
    limit: 100,
    records: { path: [], form: 'array' },
    shape: 'wallet_identity',
    table: 'wallet_identities',
  },
  {
    ...walletLookup,
    name: 'walletBalances',
    describe: 'What a wallet holds of every token, with values in US dollars',
    rest: { method: 'GET', path: '/v1/wallet/{wallet}/balances' },
    params: z.strictObject({
      wallet,
      showZeroBalance: z.boolean().optional().describe('Tokens it holds nothing of, too'),
      showNative: z.boolean().optional().describe("The ledger's own token, too"),
      showNfts: z
        .boolean()
        .optional()
        .describe(
          'NFTs, too: they stay in the raw answer, in no table. A wallet with more than 4 MB of them (about 10,000) fails: leave this out there',
        ),
    }),
    paging: 'pages',
    limit: 100,
    records: { path: ['balances'], form: 'array' },
    moreAt: ['pagination', 'hasMore'],
    idMember: 'mint',
    shape: 'wallet_balance',
    table: 'wallet_balances',
  },
  {
    ...walletList,
    name: 'walletHistory',
    describe: 'Transactions of a wallet with the changes of its balances, newest first',
    rest: { method: 'GET', path: '/v1/wallet/{wallet}/history' },
    params: z.strictObject({
      wallet,
      type: z.enum(historyTypes).optional().describe('Only transactions of this type'),
      tokenAccounts: z
        .enum(['none', 'balanceChanged', 'all'])
        .optional()
        .describe(
          'Transactions of its token accounts: none, those that changed a balance, or all (spam too)',
        ),
    }),
    cursorParam: 'before',
    shape: 'wallet_transaction',
    table: 'wallet_transactions',
  },
  {
    ...walletList,
    name: 'walletTransfers',
    describe: 'Transfers in and out of a wallet, newest first, a row a transfer',
    rest: { method: 'GET', path: '/v1/wallet/{wallet}/transfers' },
    params: z.strictObject({ wallet }),
    groupBy: 'signature',
    shape: 'wallet_transfer',
    table: 'wallet_transfers',
  },
  {
    ...walletLookup,
    ...single,
    name: 'walletFundedBy',
    describe: 'Where the first funds of a wallet came from',
    rest: { method: 'GET', path: '/v1/wallet/{wallet}/funded-by' },
    params: z.strictObject({ wallet }),
    shape: 'wallet_funding',
    table: 'wallet_funding',
  },
];

/** A webhook's id (spec, "Webhook enable or disable"). */
export const webhookId = z
  .string()
  .regex(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i,
    'expected a UUIDv4 such as 3f0c9a52-6d1b-4c8e-9a57-0d2f4b6c8e11',
  );

/** Webhook management: REST, pool `webhook`. No job may call it, because it changes something. */
export const webhookOperations: readonly Operation[] = [
  {
    name: 'setWebhookActive',
    describe: 'Enable or disable a webhook; also enables one that was disabled automatically',
    transport: 'webhook',
    rest: { method: 'PATCH', path: '/v0/webhooks/{webhookID}' },
    params: z.strictObject({
      webhookID: webhookId.describe('The webhook'),
      active: z.boolean().describe('true enables, false disables'),
    }),
    paging: 'none',
    limit: null,
    records: { path: [], form: 'single' },
    secretMember: { name: 'authHeader', flag: 'has_auth_header' },
    slotAt: [],
    pool: 'webhook',
    credits: 100,
    shape: 'webhook',
    table: 'webhooks',
  },
];
