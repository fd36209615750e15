import type { Call, Script } from './scripted-api.ts';
import { answerList } from './scripted-list.ts';

export const key = (name: string) => name.padEnd(43, '1');
export const owners = ['Ann', 'Bea', 'Cat'].map(key);
export const jobs = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${owners.join(', ')}]}}
`,
};

export type Account = Record<string, unknown>;

/** A script of each owner's four accounts, as of a slot; `change` makes another account of one, or leaves it out. */
export const ledger =
  (slot: number, change: (account: Account) => Account | null = (account) => account): Script =>
  (call: Call) => {
    const { owner } = call.params;
    const accounts = ['x', 'y', 'z', 'w'].flatMap((name, n) => {
      const address = key(`${String(owner).slice(0, 3)}${name}`);
      return change({ address, mint: key('Mint'), owner, amount: n + 1 }) ?? [];
    });
    return answerList(call, accounts, { slot, pageSize: 1000 });
  };
