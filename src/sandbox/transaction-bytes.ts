/** What a transaction's bytes tell; keys are 32 bytes, the signature 64. */
export interface TransactionParts {
  signature: Uint8Array;
  /** The fee payer first. */
  accountKeys: Uint8Array[];
  recentBlockhash: Uint8Array;
  data: Uint8Array;
}

/**
 * A transaction in the ledger's own layout (legacy message, one signature, one instruction over all accounts,
 * the last of which is the program), in base64. Lists are below 128 long, so a length is one byte.
 */
export function transactionText(parts: TransactionParts): string {
  const { signature, accountKeys, recentBlockhash, data } = parts;
  const program = accountKeys.length - 1;
  const accounts = accountKeys.slice(0, -1).map((_, position) => position);
  return Buffer.concat([
    Uint8Array.of(1),
    signature,
    Uint8Array.of(1, 0, 1, accountKeys.length),
    ...accountKeys,
    recentBlockhash,
    Uint8Array.of(1, program, accounts.length, ...accounts, data.length),
    data,
  ]).toString('base64');
}
