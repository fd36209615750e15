import type { CompressedAccount, CompressionHistory } from './compression-history.ts';

/** Which transactions and token accounts each owner and address has; grows with the history. */
export function createCompressionIndexes(history: CompressionHistory) {
  const tokens = new Map<number, Set<number>>();
  const byOwner = new Map<number, Set<number>>();
  const byAddress = new Map<number, Set<number>>();
  let done = 0;
  const addTransaction = (number: number) => {
    const { opened = [], closed = [] } = history.transactions[number] ?? {};
    for (const at of [...opened, ...closed]) {
      const { owner, token, address } = history.accounts[at] as CompressedAccount;
      if (token !== null) memberOf(byOwner, owner).add(number);
      if (address !== -1) memberOf(byAddress, address).add(number);
    }
    for (const at of opened) {
      const { owner, token } = history.accounts[at] as CompressedAccount;
      if (token !== null) memberOf(tokens, owner).add(at);
    }
  };
  return {
    extend() {
      for (; done < history.transactions.length; done += 1) addTransaction(done);
    },
    tokensOf: (owner: number) => [...(tokens.get(owner) ?? [])],
    ofOwner: (owner: number) => [...(byOwner.get(owner) ?? [])],
    ofAddress: (address: number) => [...(byAddress.get(address) ?? [])],
  };
}

function memberOf(sets: Map<number, Set<number>>, key: number): Set<number> {
  const set = sets.get(key) ?? new Set<number>();
  sets.set(key, set);
  return set;
}
