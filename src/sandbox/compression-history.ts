import { type Random, skewed } from './random.ts';

/** A compressed account after its transactions; its other members are a function of its number. */
export interface CompressedAccount {
  owner: number;
  /** Null for an account that holds no tokens. */
  token: { mint: number; amount: bigint } | null;
  /** The number of its address, which its successors inherit; -1 for none. */
  address: number;
  /** Transaction numbers; `closedBy` is -1 while it is open. */
  openedBy: number;
  closedBy: number;
  /** The sequence number of its tree when it was appended. */
  seq: number;
}

/** What one transaction did, by account numbers. */
export interface CompressionTransaction {
  payer: number;
  opened: number[];
  closed: number[];
}

export interface CompressionCounts {
  owners: number;
  mints: number;
  /** Whether some amounts are above 2^53. */
  large: boolean;
}

/** The accounts are distributed over this many state trees in turn. */
export const stateTreeCount = 4;

/**
 * The transactions of the compressed accounts, in order. Accounts never change: they are closed, and successors with
 * new hashes are opened. A transfer opens the same amounts that it closes.
 */
export class CompressionHistory {
  readonly accounts: CompressedAccount[] = [];
  readonly transactions: CompressionTransaction[] = [];
  /** Appends and closings of each tree. */
  readonly treeSeqs: number[] = new Array(stateTreeCount).fill(0);
  /** The account that has, or was the last to have, each address. */
  readonly holders: number[] = [];
  readonly #counts: CompressionCounts;
  readonly #openTokens: number[] = [];
  readonly #openPlain: number[] = [];

  constructor(counts: CompressionCounts) {
    this.#counts = counts;
  }

  /** Adds one transaction of a random kind. */
  run(random: Random): void {
    const dice = random.below(100);
    this.transactions.push({ payer: this.#drawOwner(random), opened: [], closed: [] });
    if (dice < 45 || this.#openTokens.length === 0) this.#mint(random);
    else if (dice < 75) this.#transfer(random);
    else if (dice < 86 || this.#openPlain.length === 0) this.#create(random);
    else if (dice < 95) this.#update(random);
    else this.#burn(random);
  }

  #mint(random: Random): void {
    const mint = skewed(random.next(), this.#counts.mints, 2);
    for (let n = 1 + random.below(12); n > 0; n -= 1) {
      this.#open({ owner: this.#drawOwner(random), token: { mint, amount: this.#drawAmount(random) } });
    }
  }

  #transfer(random: Random): void {
    const source = this.#close(this.#openTokens, random);
    const { mint, amount } = source.token as { mint: number; amount: bigint };
    const sent = (amount * BigInt(1 + random.below(1000))) / 1000n;
    this.#open({ owner: this.#drawOwner(random), token: { mint, amount: sent } });
    if (sent < amount) this.#open({ owner: source.owner, token: { mint, amount: amount - sent } });
  }

  #create(random: Random): void {
    for (let n = 1 + random.below(3); n > 0; n -= 1) {
      const address = random.oneIn(3) ? -1 : this.holders.length;
      this.#open({ owner: this.#drawOwner(random), token: null, address });
    }
  }

  #update(random: Random): void {
    const { owner, address } = this.#close(this.#openPlain, random);
    this.#open({ owner, token: null, address });
  }

  #burn(random: Random): void {
    this.#close(random.oneIn(3) ? this.#openPlain : this.#openTokens, random);
  }

  #open(opened: { owner: number; token: CompressedAccount['token']; address?: number }): void {
    const number = this.accounts.length;
    const tree = number % stateTreeCount;
    this.treeSeqs[tree]! += 1;
    const { owner, token, address = -1 } = opened;
    const openedBy = this.transactions.length - 1;
    this.accounts.push({ owner, token, address, openedBy, closedBy: -1, seq: this.treeSeqs[tree] as number });
    if (address !== -1) this.holders[address] = number;
    this.transactions[openedBy]?.opened.push(number);
    (token === null ? this.#openPlain : this.#openTokens).push(number);
  }

  /** Closes one of the open accounts; its owner pays for the transaction. */
  #close(open: number[], random: Random): CompressedAccount {
    const position = random.below(open.length);
    const number = open[position] as number;
    open[position] = open.at(-1) as number;
    open.pop();
    const account = this.accounts[number] as CompressedAccount;
    const transaction = this.transactions.at(-1) as CompressionTransaction;
    account.closedBy = this.transactions.length - 1;
    this.treeSeqs[number % stateTreeCount]! += 1;
    transaction.closed.push(number);
    transaction.payer = account.owner;
    return account;
  }

  /** Every fourth time the first owner, who has enough for several pages. */
  #drawOwner(random: Random): number {
    return random.oneIn(4) ? 0 : random.below(this.#counts.owners);
  }

  #drawAmount(random: Random): bigint {
    const dice = random.below(100);
    if (this.#counts.large && dice < 8) return random.u64();
    if (this.#counts.large && dice < 10) return 2n ** 64n - 1n;
    return random.u64() >> BigInt(20 + random.below(30));
  }
}
