import { createKeyTable, type KeyTable } from './key-table.ts';

/** The known identity of an address; members as in the API. */
export interface Identity {
  address: string;
  type: string;
  name: string;
  category: string;
  tags: string[];
  domainNames?: string[];
}

/**
 * The known addresses: three in four of the outsiders (exchanges and the like, which trade with wallets and have no
 * history here), and every seventh wallet.
 */
export interface WalletIdentities {
  readonly outsiders: KeyTable;
  /** Null for an unknown address. */
  of(address: string): Identity | null;
}

const outsiderCount = 40;
const kinds = [
  ['exchange', 'Centralized Exchange', 'Northwind Exchange'],
  ['bridge', 'Bridge', 'Causeway Bridge'],
  ['marketplace', 'NFT Marketplace', 'Harbour Market'],
  ['protocol', 'DeFi', 'Saltmarsh Pool'],
  ['hacker', 'Hacks & Exploits', 'Drainer №7 — “Gull”'],
] as const;

export function createWalletIdentities(seed: number, owners: KeyTable): WalletIdentities {
  const outsiders = createKeyTable(seed, 'outsider', outsiderCount);
  return {
    outsiders,
    of(address) {
      const outsider = outsiders.find(address);
      if (outsider !== -1) return outsider % 4 === 3 ? null : identifyOutsider(address, outsider);
      const owner = owners.find(address);
      return owner !== -1 && owner % 7 === 3 ? identifyOwner(address, owner) : null;
    },
  };
}

function identifyOutsider(address: string, outsider: number): Identity {
  const [type, category, name] = kinds[outsider % kinds.length] as (typeof kinds)[number];
  const wallet = outsider < kinds.length ? name : `${name} ${Math.floor(outsider / kinds.length) + 1}`;
  return {
    address,
    type,
    name: wallet,
    category,
    tags: [category, ...(outsider % 2 === 0 ? ['Hot Wallet'] : [])],
  };
}

function identifyOwner(address: string, owner: number): Identity {
  const person = { address, type: 'person', name: `Collector ${owner}`, category: 'Key Opinion Leader' };
  const tags = owner % 2 === 0 ? [] : ['Collector', '収集家'];
  return owner % 3 === 0 ? { ...person, tags, domainNames: [`collector-${owner}.sol`] } : { ...person, tags };
}
