import { hash } from 'node:crypto';
import { encodeBase58 } from './base58.ts';
import { type CompressedAccount, type CompressionHistory, stateTreeCount } from './compression-history.ts';
import type { Random } from './random.ts';

/** A compressed account as its record shows it; numbers are exact. */
export interface CompressedAccountFacts {
  hash: string;
  address: string | null;
  lamports: bigint;
  leafIndex: number;
  /** The program for token accounts, whose owner is in `token`. */
  owner: string;
  seq: number | null;
  slotCreated: number;
  tree: string;
  /** `data` in base64. */
  data: { data: string; dataHash: string; discriminator: bigint } | null;
  token: CompressedTokenFacts | null;
}

export interface CompressedTokenFacts {
  amount: bigint;
  mint: string;
  owner: string;
  state: 'initialized' | 'frozen';
  delegate: string | null;
  /** Base64. */
  tlv: string | null;
}

/** Where the names in a record come from. */
export interface CompressedNames {
  hash(number: number): string;
  address(address: number): string;
  tree(tree: number): string;
  delegate(delegate: number): string;
  owner: KeyName;
  mint: KeyName;
}

/** A recurring key, as text and as bytes. */
export interface KeyName {
  text(number: number): string;
  bytes(number: number): Uint8Array;
}

const tokenProgram = 'cTokenmWW8bLPjZEBAUgYy3zKxQZW6VKi7bqNFEVv3m';
/** The discriminator of nearly every token account, a 3 in the first of its eight bytes. */
const commonDiscriminator = 216_172_782_113_783_808n;

/** Describes an account; `random` belongs to its number, so that it is the same in every answer. */
export function describeAccount(
  number: number,
  account: CompressedAccount & { slotCreated: number },
  random: Random,
  names: CompressedNames,
): CompressedAccountFacts {
  const token = account.token === null ? null : describeToken(account, random, names);
  const large = random.quirk(20);
  const drawn = random.u64() >> BigInt(large ? 0 : 20 + random.below(20));
  const lamports = token !== null && !random.oneIn(10) ? 0n : drawn;
  const bytes = token === null ? plainBytes(random) : tokenBytes(account, token, names);
  return {
    hash: names.hash(number),
    address: account.address === -1 ? null : names.address(account.address),
    lamports,
    leafIndex: Math.floor(number / stateTreeCount),
    owner: token === null ? names.owner.text(account.owner) : tokenProgram,
    seq: random.quirks && number % 16 === 9 ? null : account.seq,
    slotCreated: account.slotCreated,
    tree: names.tree(number % stateTreeCount),
    data: bytes === null ? null : describeData(bytes, token !== null, random),
    token,
  };
}

function describeToken(
  account: CompressedAccount,
  random: Random,
  names: CompressedNames,
): CompressedTokenFacts {
  const { mint, amount } = account.token as { mint: number; amount: bigint };
  return {
    amount,
    mint: names.mint.text(mint),
    owner: names.owner.text(account.owner),
    state: random.oneIn(40) ? 'frozen' : 'initialized',
    delegate: random.oneIn(12) ? names.delegate(random.below(500)) : null,
    tlv: random.oneIn(15) ? Buffer.from([random.below(256), random.below(256), 0]).toString('base64') : null,
  };
}

function describeData(bytes: Uint8Array, isToken: boolean, random: Random) {
  const dice = random.below(10);
  let discriminator = isToken || dice < 4 ? commonDiscriminator : random.u64();
  if (dice === 9) discriminator = isToken ? 2n : 2n ** 64n - 1n;
  return {
    data: Buffer.from(bytes).toString('base64'),
    dataHash: encodeBase58(hash('sha256', bytes, 'buffer')),
    discriminator: random.quirks ? discriminator : 2n,
  };
}

/** As the token program lays them out: mint, owner, amount, delegate or none, state, tlv or none. */
function tokenBytes(
  account: CompressedAccount,
  token: CompressedTokenFacts,
  names: CompressedNames,
): Uint8Array {
  const { mint } = account.token as { mint: number };
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(token.amount);
  const tail = Buffer.from([0, token.state === 'frozen' ? 2 : 1, 0]);
  return Buffer.concat([names.mint.bytes(mint), names.owner.bytes(account.owner), amount, tail]);
}

/** Null for the accounts that hold lamports only. */
function plainBytes(random: Random): Uint8Array | null {
  if (random.oneIn(4)) return null;
  return Uint8Array.from({ length: 16 + random.below(80) }, () => random.below(256));
}

/** The account record as one line of JSON text. */
export function accountText(facts: CompressedAccountFacts): string {
  const { data } = facts;
  const dataText =
    data === null
      ? 'null'
      : `{"discriminator":${data.discriminator},"data":"${data.data}","dataHash":"${data.dataHash}"}`;
  return (
    `{"hash":"${facts.hash}","address":${quote(facts.address)},"data":${dataText},"owner":"${facts.owner}",` +
    `"lamports":${facts.lamports},"tree":"${facts.tree}","leafIndex":${facts.leafIndex},"seq":${facts.seq},` +
    `"slotCreated":${facts.slotCreated}}`
  );
}

/** The token data as one line of JSON text; `asText` writes the amount as a string, as some servers do. */
export function tokenDataText(token: CompressedTokenFacts, asText: boolean): string {
  const amount = asText ? `"${token.amount}"` : `${token.amount}`;
  return (
    `{"mint":"${token.mint}","owner":"${token.owner}","amount":${amount},"delegate":${quote(token.delegate)},` +
    `"state":"${token.state}","tlv":${quote(token.tlv)}}`
  );
}

function quote(text: string | null): string {
  return text === null ? 'null' : `"${text}"`;
}

/** The records of compressed accounts and transactions, each as one line of JSON text. */
export interface CompressionRecords {
  accountText(number: number): string;
  /** `{account, tokenData}` of a token account. */
  tokenAccountText(number: number, facts?: CompressedAccountFacts): string;
  /** The answer of getTransactionWithCompressionInfo. */
  transactionRecord(number: number): string;
}

export function createCompressionRecords(of: {
  history: CompressionHistory;
  facts: (number: number) => CompressedAccountFacts;
  transactionText: (number: number) => string;
  slotOf: (transaction: number) => number;
  quirks: boolean;
}): CompressionRecords {
  const tokenOf = (number: number, { token }: CompressedAccountFacts) =>
    token === null ? 'null' : tokenDataText(token, of.quirks && number % 97 === 5);
  const pairOf = (number: number, name: string, facts = of.facts(number)) =>
    `{"account":${accountText(facts)},"${name}":${tokenOf(number, facts)}}`;
  const changesText = (numbers: readonly number[]) =>
    numbers.map((number) => pairOf(number, 'optionalTokenData')).join(',');
  return {
    accountText: (number) => accountText(of.facts(number)),
    tokenAccountText: (number, facts) => pairOf(number, 'tokenData', facts),
    transactionRecord(number) {
      const { opened = [], closed = [] } = of.history.transactions[number] ?? {};
      const info = `{"closedAccounts":[${changesText(closed)}],"openedAccounts":[${changesText(opened)}]}`;
      const text = of.transactionText(number);
      // The spec writes compression_info, and says that the transaction is an object.
      if (of.quirks && number % 6 === 2) {
        const transaction = `{"slot":${of.slotOf(number)},"transaction":["${text}","base64"]}`;
        return `{"compression_info":${info},"transaction":${transaction}}`;
      }
      return `{"compressionInfo":${info},"transaction":"${text}"}`;
    },
  };
}
