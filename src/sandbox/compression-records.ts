import { accountText, type CompressedAccountFacts, tokenDataText } from './compressed-account-text.ts';
import type { CompressionHistory } from './compression-history.ts';

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
    numbers.map((one) => pairOf(one, 'optionalTokenData')).join(',');
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
