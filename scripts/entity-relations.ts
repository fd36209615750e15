/** Columns of one table that name rows of another. */
export interface Relation {
  /** The diagram that shows it. */
  group: keyof typeof relationGroups;
  /** `table.column, … = table.column, …`: columns that are equal in pairs. A list on the right contains the value on the left. */
  on: string;
  /** How many rows of the left and of the right table match, at most. */
  rows: 'one to one' | 'one to many' | 'many to one' | 'many to many';
  why: string;
}

/** The diagrams of docs/reference/entities.md, in order. */
export const relationGroups = {
  assets: 'Assets and token accounts',
  accounts: 'Compressed accounts',
  compression: 'Transactions of the compression program',
  wallets: 'Wallets and webhooks',
};

/**
 * Every relation between tables of the model, with its reason. No database enforces them: a job may bring only one of the two
 * tables, and a row may be newer than the one it names.
 */
export const relations: readonly Relation[] = [
  {
    group: 'assets',
    on: 'assets.id = asset_proofs.id',
    rows: 'one to one',
    why: 'Proof of a compressed asset.',
  },
  {
    group: 'assets',
    on: 'assets.id = token_accounts.mint',
    rows: 'one to many',
    why: 'Accounts that hold the token.',
  },
  {
    group: 'assets',
    on: 'assets.id = compressed_token_accounts.mint',
    rows: 'one to many',
    why: 'The same, compressed.',
  },
  {
    group: 'assets',
    on: 'token_accounts.owner, mint = wallet_balances.wallet, mint',
    rows: 'many to one',
    why: 'An owner may have several accounts of a mint; the wallet interface gives one balance.',
  },
  {
    group: 'accounts',
    on: 'compressed_accounts.hash = compressed_token_accounts.hash',
    rows: 'one to one',
    why: 'The token data in an account.',
  },
  {
    group: 'accounts',
    on: 'compressed_accounts.hash = compressed_account_proofs.hash',
    rows: 'one to one',
    why: 'Proof that the account is in its tree.',
  },
  {
    group: 'accounts',
    on: 'compressed_accounts.hash = validity_proofs.hashes',
    rows: 'many to many',
    why: 'A validity proof covers several accounts.',
  },
  {
    group: 'accounts',
    on: 'compressed_accounts.address = new_address_proofs.address',
    rows: 'many to many',
    why: 'Accounts created later at an address that was free.',
  },
  {
    group: 'compression',
    on: 'compression_signatures.signature = compression_signature_sources.signature',
    rows: 'one to many',
    why: 'The lists that a signature was in.',
  },
  {
    group: 'compression',
    on: 'compression_signatures.signature = compression_transactions.signature',
    rows: 'one to one',
    why: 'The transaction, where a job requests it.',
  },
  {
    group: 'compression',
    on: 'compression_transactions.signature = compression_transaction_accounts.signature',
    rows: 'one to many',
    why: 'Accounts it opened and closed.',
  },
  {
    group: 'compression',
    on: 'compressed_accounts.hash = compression_transaction_accounts.hash',
    rows: 'one to many',
    why: 'At most two: the account opened, and closed.',
  },
  {
    group: 'wallets',
    on: 'wallet_identities.wallet = assets.owner',
    rows: 'one to many',
    why: 'Who owns an asset.',
  },
  {
    group: 'wallets',
    on: 'wallet_identities.wallet = wallet_balances.wallet',
    rows: 'one to many',
    why: 'What a wallet holds.',
  },
  {
    group: 'wallets',
    on: 'wallet_identities.wallet = wallet_transactions.wallet',
    rows: 'one to many',
    why: 'What a wallet did.',
  },
  {
    group: 'wallets',
    on: 'wallet_identities.wallet = wallet_funding.wallet',
    rows: 'one to one',
    why: 'Who funded a wallet first.',
  },
  {
    group: 'wallets',
    on: 'wallet_transactions.wallet, signature = wallet_transfers.wallet, signature',
    rows: 'one to many',
    why: 'The transfers in a transaction, as one wallet sees them.',
  },
  {
    group: 'wallets',
    on: 'wallet_identities.wallet = wallet_transfers.counterparty',
    rows: 'one to many',
    why: 'Who was on the other side.',
  },
  {
    group: 'wallets',
    on: 'assets.id = wallet_balances.mint',
    rows: 'one to many',
    why: 'What the token is.',
  },
  {
    group: 'wallets',
    on: 'wallet_identities.wallet = webhooks.account_addresses',
    rows: 'many to many',
    why: 'Addresses that a webhook watches.',
  },
];

/** Tables that no column leads to, and why. */
export const apart: Readonly<Record<string, string>> = {
  priority_fees:
    'An estimate belongs to a request: `request_key` identifies it, and `account_keys` has its addresses.',
};
