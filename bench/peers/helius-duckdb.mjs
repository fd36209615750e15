// What a user would write instead: the published SDK, pointed at the bench server, JSON.parse (the SDK's own), and
// DuckDB's appender, a chunk a page. No retry, no checkpoint, no history, no check; a crash begins again from nothing.
// Amounts pass through a JavaScript number, so those above 2^53 are wrong.
//   node bench/peers/helius-duckdb.mjs <url> <operation> <file of targets> <database to write>
import { readFileSync } from 'node:fs';
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  DuckDBDataChunk,
  DuckDBInstance,
  INTEGER,
  UBIGINT,
  VARCHAR,
} from '@duckdb/node-api';
import { createHelius } from 'helius-sdk';

const [url, operation, file, path] = process.argv.slice(2);
const targets = readFileSync(file, 'utf8').trim().split('\n');
const concurrency = 8;
const pageSize = 1000;

const text = (value) => (value === undefined || value === null || value === '' ? null : String(value));
const json = (value) => (value === undefined ? null : JSON.stringify(value));
const integer = (value) => (value === undefined || value === null ? null : BigInt(value));
const u64 = (value) =>
  value === undefined || value === null ? null : BigInt.asUintN(64, BigInt(Number(value)));
const plain = (value) => value ?? null;

/** Column: type and where it stands in the record. Lists are kept as JSON text. */
const columns = {
  getAssetsByGroup: {
    id: [VARCHAR, (r) => r.id],
    interface: [VARCHAR, (r) => text(r.interface)],
    name: [VARCHAR, (r) => text(r.content?.metadata?.name)],
    symbol: [VARCHAR, (r) => text(r.content?.metadata?.symbol)],
    description: [VARCHAR, (r) => text(r.content?.metadata?.description)],
    token_standard: [VARCHAR, (r) => text(r.content?.metadata?.token_standard)],
    json_uri: [VARCHAR, (r) => text(r.content?.json_uri)],
    image: [VARCHAR, (r) => text(r.content?.links?.image)],
    external_url: [VARCHAR, (r) => text(r.content?.links?.external_url)],
    owner: [VARCHAR, (r) => text(r.ownership?.owner)],
    ownership_model: [VARCHAR, (r) => text(r.ownership?.ownership_model)],
    frozen: [BOOLEAN, (r) => plain(r.ownership?.frozen)],
    delegated: [BOOLEAN, (r) => plain(r.ownership?.delegated)],
    delegate: [VARCHAR, (r) => text(r.ownership?.delegate)],
    compressed: [BOOLEAN, (r) => plain(r.compression?.compressed)],
    tree: [VARCHAR, (r) => text(r.compression?.tree)],
    leaf_id: [BIGINT, (r) => integer(r.compression?.leaf_id)],
    seq: [BIGINT, (r) => integer(r.compression?.seq)],
    data_hash: [VARCHAR, (r) => text(r.compression?.data_hash)],
    creator_hash: [VARCHAR, (r) => text(r.compression?.creator_hash)],
    asset_hash: [VARCHAR, (r) => text(r.compression?.asset_hash)],
    collection: [
      VARCHAR,
      (r) => text(r.grouping?.find((one) => one.group_key === 'collection')?.group_value),
    ],
    royalty_percent: [DOUBLE, (r) => plain(r.royalty?.percent)],
    royalty_basis_points: [INTEGER, (r) => plain(r.royalty?.basis_points)],
    primary_sale_happened: [BOOLEAN, (r) => plain(r.royalty?.primary_sale_happened)],
    token_symbol: [VARCHAR, (r) => text(r.token_info?.symbol)],
    token_supply: [UBIGINT, (r) => u64(r.token_info?.supply)],
    token_decimals: [INTEGER, (r) => plain(r.token_info?.decimals)],
    token_program: [VARCHAR, (r) => text(r.token_info?.token_program)],
    price_per_token: [DOUBLE, (r) => plain(r.token_info?.price_info?.price_per_token)],
    mutable: [BOOLEAN, (r) => plain(r.mutable)],
    burnt: [BOOLEAN, (r) => plain(r.burnt)],
    creators: [VARCHAR, (r) => json(r.creators)],
    grouping: [VARCHAR, (r) => json(r.grouping)],
    authorities: [VARCHAR, (r) => json(r.authorities)],
    attributes: [VARCHAR, (r) => json(r.content?.metadata?.attributes)],
    files: [VARCHAR, (r) => json(r.content?.files)],
    slot: [BIGINT, (_, answer) => integer(answer.last_indexed_slot)],
  },
  getTokenAccounts: {
    address: [VARCHAR, (r) => r.address],
    mint: [VARCHAR, (r) => text(r.mint)],
    owner: [VARCHAR, (r) => text(r.owner)],
    amount: [UBIGINT, (r) => u64(r.amount)],
    delegated_amount: [UBIGINT, (r) => u64(r.delegated_amount)],
    frozen: [BOOLEAN, (r) => plain(r.frozen)],
    slot: [BIGINT, (_, answer) => integer(answer.last_indexed_slot)],
  },
}[operation];
const types = Object.values(columns).map(([type]) => type);
const readers = Object.values(columns).map(([, read]) => read);

const started = performance.now();
const before = process.cpuUsage();
const helius = createHelius({ apiKey: 'bench', baseUrl: `${url}/` });
const instance = await DuckDBInstance.create(path, { threads: '2' });
const connection = await instance.connect();
const definition = Object.entries(columns).map(([name, [type]]) => `"${name}" ${type}`);
await connection.run(`create table rows (${definition.join(', ')})`);
const appender = await connection.createAppender('rows');
let rows = 0;

async function walk(target) {
  for (let page = 1; ; page += 1) {
    const named =
      operation === 'getTokenAccounts' ? { mint: target } : { groupKey: 'collection', groupValue: target };
    const answer = await helius[operation]({ ...named, page, limit: pageSize });
    const records = answer.items ?? answer.token_accounts;
    if (records.length > 0) {
      const chunk = DuckDBDataChunk.create(types, records.length);
      chunk.setColumns(readers.map((read) => records.map((record) => read(record, answer))));
      appender.appendDataChunk(chunk);
      rows += records.length;
    }
    if (records.length < pageSize) return;
  }
}

const waiting = targets.values();
await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (const target of waiting) await walk(target);
  }),
);
appender.closeSync();
await connection.run('checkpoint');
connection.closeSync();
instance.closeSync();
const { user, system } = process.cpuUsage(before);
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, rows }));
