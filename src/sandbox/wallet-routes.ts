import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type FrontDesk, queryKey } from './front-desk.ts';
import {
  answerRest,
  badInput,
  parseBody,
  type QueryRule,
  RestError,
  readBody,
  readQuery,
  refuseRest,
} from './rest-request.ts';
import { historyQuery, listHistory, listTransfers, transfersQuery } from './wallet-lists.ts';
import { balanceRecord, fundingRecord, nftRecord } from './wallet-records.ts';
import type { World } from './world.ts';

/** One GET of the wallet interface: `/v1/wallet/{wallet}/{path}`. */
interface WalletRoute {
  path: string;
  /** The operation's name in the request log. */
  operation: string;
  query: { readonly [name: string]: QueryRule };
  answer(world: World, wallet: string, query: Record<string, unknown>): unknown;
}

const addressRule = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const batchLimit = 100;

const identity: WalletRoute = {
  path: 'identity',
  operation: 'walletIdentity',
  query: {},
  answer(world, wallet) {
    const record = world.wallets.identities.of(wallet);
    if (record === null) throw new RestError(404, { error: 'Identity not found', code: 'NOT_FOUND' });
    return record;
  },
};

const balances: WalletRoute = {
  path: 'balances',
  operation: 'walletBalances',
  query: {
    page: { min: 1, max: 1_000_000 },
    limit: { min: 1, max: 100 },
    showZeroBalance: 'boolean',
    showNative: 'boolean',
    showNfts: 'boolean',
  },
  answer(world, wallet, query) {
    const { page = 1, limit = 100 } = query as { page?: number; limit?: number };
    const { showZeroBalance = false, showNative = true, showNfts = false } = query;
    const owner = world.owners.find(wallet);
    const shown = world.wallets
      .holdings(owner)
      .filter(({ raw, mint }) => (showZeroBalance || raw > 0n) && (showNative || mint !== -1));
    const rows = shown.slice((page - 1) * limit, page * limit);
    // Only the first page has NFTs, and at most a hundred.
    const nfts = page === 1 ? world.wallets.nfts(owner).slice(0, 100) : [];
    return {
      balances: rows.map((holding) => balanceRecord(world, holding)),
      ...(showNfts ? { nfts: nfts.map((index) => nftRecord(world, index)) } : {}),
      totalUsdValue: shown.reduce((sum, { usdValue }) => sum + (usdValue ?? 0), 0),
      pagination: { page, limit, hasMore: page * limit < shown.length },
    };
  },
};

const history: WalletRoute = {
  path: 'history',
  operation: 'walletHistory',
  query: historyQuery,
  answer: listHistory,
};

const transfers: WalletRoute = {
  path: 'transfers',
  operation: 'walletTransfers',
  query: transfersQuery,
  answer: listTransfers,
};

const fundedBy: WalletRoute = {
  path: 'funded-by',
  operation: 'walletFundedBy',
  query: {},
  answer(world, wallet) {
    const event = world.wallets.funding(world.owners.find(wallet));
    if (event === null)
      throw new RestError(404, { error: 'No funding transaction found', code: 'NOT_FOUND' });
    return fundingRecord(world, event);
  },
};

/** The wallet interface (spec, "Wallet interface"). */
export function addWalletRoutes(app: FastifyInstance, desk: FrontDesk, world: World): void {
  for (const route of [identity, balances, history, transfers, fundedBy]) addRoute(app, desk, world, route);
  app.post('/v1/wallet/batch-identity', (request, reply) => {
    return desk(request, reply, {
      ...visitOf(request, 'walletBatchIdentity'),
      params: parseBody(request),
      bytes: `${request.body ?? ''}`.length,
      answer: () => answerRest(() => identifyMany(world, readBody(request, ['addresses']).addresses)),
    });
  });
}

function addRoute(app: FastifyInstance, desk: FrontDesk, world: World, route: WalletRoute): void {
  app.get(`/v1/wallet/:wallet/${route.path}`, (request, reply) => {
    const { wallet } = request.params as { wallet: string };
    const { 'api-key': _, ...inputs } = request.query as Record<string, unknown>;
    return desk(request, reply, {
      ...visitOf(request, route.operation),
      params: { wallet, ...inputs },
      bytes: request.url.length,
      answer: () =>
        answerRest(() => {
          if (!addressRule.test(wallet)) throw badInput('wallet', 'a base58 address');
          const query = readQuery(request, route.query);
          world.advanceSlot();
          return route.answer(world, wallet, query);
        }),
    });
  });
}

function visitOf(request: FastifyRequest, method: string) {
  const header = request.headers['x-api-key'];
  const key = typeof header === 'string' ? header : queryKey(request);
  return { method, key, pool: 'wallet' as const, refuse: refuseRest };
}

/** The identities of known addresses, each once. */
function identifyMany(world: World, addresses: unknown) {
  if (!Array.isArray(addresses) || addresses.length > batchLimit) {
    throw badInput('addresses', `a list of at most ${batchLimit}`);
  }
  if (!addresses.every((address) => typeof address === 'string' && addressRule.test(address))) {
    throw badInput('addresses', 'base58 addresses');
  }
  world.advanceSlot();
  return [...new Set(addresses as string[])].flatMap((address) => world.wallets.identities.of(address) ?? []);
}
