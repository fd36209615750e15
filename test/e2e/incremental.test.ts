import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { expectAsset } from './expected-rows.ts';
import { hideContent } from './ledger-oracle.ts';
import { openWorkplace, startCli, type Workplace } from './night.ts';
import { differences, type Row, readQuarantine, readTable } from './table-rows.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

interface Collection {
  sandbox: Sandbox;
  place: Workplace;
  /** Runs the job and tells what the sandbox was asked meanwhile. */
  night(...args: string[]): Promise<{ code: number; asked: Params[]; saved: number }>;
  close(): Promise<void>;
}

interface Params {
  page?: number;
  cursor?: string;
  sortBy?: { sortBy: string; sortDirection: string };
}

const pageSize = 200;

/** A ledger of one collection, and an incremental job for it. `job`: lines that the job has besides. */
async function openCollection(options: SandboxOptions, job = ''): Promise<Collection> {
  const sandbox = await startSandbox({ seed: 5, collections: 1, owners: 200, ...options });
  const place = await openWorkplace(sandbox.url, { 'jobs/list.yaml': jobText(sandbox, job) });
  const env = { PATH: process.env.PATH, LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' };
  return {
    sandbox,
    place,
    async night(...args) {
      const before = sandbox.requests.length;
      const { code, stdout, stderr } = await startCli(
        ['run', '--json', '--log-level', 'warn', ...args],
        place.root,
        env,
      );
      if (stdout === '') throw new Error(`exit ${code}: ${stderr}`);
      const asked = sandbox.requests.slice(before).map(({ params }) => params as Params);
      return { code, asked, saved: (JSON.parse(stdout) as { saved: number }).saved };
    },
    async close() {
      await sandbox.close();
      await place.remove();
    },
  };
}

function jobText({ world }: Sandbox, lines: string): string {
  return `describe: One collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${world.truth().collections()[0]}] } }
mode: incremental
page_size: ${pageSize}
${lines}`;
}

/** Cached prices move without the list saying so: only a full crawl brings those of assets that stand still. */
function withoutPrices({ price_per_token: _price, price_currency: _currency, ...row }: Row): Row {
  return row;
}

/** Rows of the assets that the list gives now, as it gives them. */
function listedRows({ world }: Sandbox): Map<string, Row> {
  const truth = world.truth();
  const rows = [...truth.assets()].flatMap(({ id, burnt, record, contentHiddenInLists }): [string, Row][] => {
    const { row } = expectAsset(contentHiddenInLists ? hideContent(record) : record);
    return burnt || row === null ? [] : [[id, withoutPrices(row)]];
  });
  return new Map(rows);
}

/** The rows of the table that the list still gives; what left it is the full crawl's to find. */
async function tableRows({ place }: Collection, listed: ReadonlyMap<string, Row>): Promise<Map<string, Row>> {
  const rows = [...(await readTable(place, 'assets', 'id'))].filter(([id]) => listed.has(id));
  return new Map(rows.map(([id, row]) => [id, withoutPrices(row)]));
}

describe('a collection of 20,000 assets, nights one after another', () => {
  let collection: Collection;
  let fullRequests = 0;
  beforeAll(async () => {
    collection = await openCollection({ assets: 20_000 });
    return () => collection.close();
  });

  test('the first night walks all of it by cursor', async () => {
    const { code, asked, saved } = await collection.night();
    expect({ code, saved }).toEqual({ code: 0, saved: 0 });
    expect(asked.some(({ page, sortBy }) => page !== undefined || sortBy !== undefined)).toBe(false);
    fullRequests = asked.length;
    expect(fullRequests).toBe(101);
    const listed = listedRows(collection.sandbox);
    expect(differences(listed, await tableRows(collection, listed))).toEqual([]);
  });

  test('nothing changed: one request', async () => {
    const quarantine = await readQuarantine(collection.place);
    expect(quarantine.length).toBeGreaterThan(10);
    const { code, asked, saved } = await collection.night();
    expect({ code, saved }).toEqual({ code: 0, saved: fullRequests - 1 });
    expect(asked).toMatchObject([{ page: 1, sortBy: { sortBy: 'updated', sortDirection: 'desc' } }]);
    expect(asked.length).toBe(1);
    // What an incremental crawl did not look at is still not right.
    expect(await readQuarantine(collection.place)).toEqual(quarantine);
    const [twice] = await collection.place.rows(
      `select count(*) - count(distinct (table_name, key, column_name, raw)) as n from meta.quarantine`,
    );
    expect(twice).toEqual({ n: '0' });
  });

  test('1 % changed: at most 5 % of the requests, and every row is what the ledger says', async () => {
    collection.sandbox.tick();
    const { code, asked, saved } = await collection.night();
    expect({ code, saved }).toEqual({ code: 0, saved: fullRequests - asked.length });
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(0.05 * fullRequests);
    const listed = listedRows(collection.sandbox);
    expect(differences(listed, await tableRows(collection, listed))).toEqual([]);
  });
});
