import { type FeeLevels, feeLevels } from './priority-fees.ts';
import { badParams, type RpcMethod } from './rpc-method.ts';

const levelWords = ['Min', 'Low', 'Medium', 'High', 'VeryHigh', 'UnsafeMax'] as const;

const levelNames: Record<(typeof levelWords)[number], keyof FeeLevels> = {
  Min: 'min',
  Low: 'low',
  Medium: 'medium',
  High: 'high',
  VeryHigh: 'veryHigh',
  UnsafeMax: 'unsafeMax',
};

interface FeeOptions {
  transactionEncoding?: 'Base58' | 'Base64';
  priorityLevel?: (typeof levelWords)[number];
  includeAllPriorityFeeLevels?: boolean;
  lookbackSlots?: number;
  recommended?: boolean;
}

/** Bare, like getAsset: all levels if requested, else one estimate. */
const getPriorityFeeEstimate: RpcMethod = {
  name: 'getPriorityFeeEstimate',
  pool: 'fee',
  form: 'one-in-array',
  params: {
    transaction: 'string',
    accountKeys: 'strings',
    options: {
      transactionEncoding: ['Base58', 'Base64'],
      priorityLevel: levelWords,
      includeAllPriorityFeeLevels: 'boolean',
      lookbackSlots: 'integer',
      recommended: 'boolean',
    },
  },
  required: [],
  answer(params, { world }) {
    const {
      transaction,
      accountKeys,
      options = {},
    } = params as {
      transaction?: string;
      accountKeys?: string[];
      options?: FeeOptions;
    };
    if (transaction === undefined && accountKeys === undefined) {
      throw badParams('one of `transaction` and `accountKeys` is needed');
    }
    if (transaction !== undefined) checkTransaction(transaction, options.transactionEncoding ?? 'Base58');
    const locks = transaction === undefined ? (accountKeys as string[]) : [transaction];
    const levels = feeLevels(world, locks, checkLookback(options.lookbackSlots));
    if (options.includeAllPriorityFeeLevels) return JSON.stringify({ priorityFeeLevels: levels });
    // A recommended fee is the medium one, and never below 10,000 micro-lamports.
    if (options.recommended) return estimateText(Math.max(levels.medium, 10_000));
    return estimateText(levels[levelNames[options.priorityLevel ?? 'Medium']]);
  },
};

/** With a decimal point even where the fee is whole, because the API's fees are floats. */
function estimateText(fee: number): string {
  return `{"priorityFeeEstimate":${Number.isInteger(fee) ? fee.toFixed(1) : fee}}`;
}

function checkTransaction(text: string, encoding: 'Base58' | 'Base64'): void {
  const fits =
    encoding === 'Base58' ? /^[1-9A-HJ-NP-Za-km-z]+$/.test(text) : /^[A-Za-z0-9+/]+={0,2}$/.test(text);
  if (!fits) throw badParams(`\`transaction\` is not ${encoding}`);
}

function checkLookback(slots = 150): number {
  if (slots < 1 || slots > 300) throw badParams('`lookbackSlots` must be from 1 to 300');
  return slots;
}

/** The fee methods (spec, "Endpoints"). */
export const feeMethods: readonly RpcMethod[] = [getPriorityFeeEstimate];
