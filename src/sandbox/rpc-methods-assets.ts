import { type AssetView, assetOptions } from './asset-text.ts';
import { arrayText, isLoose, maxLimit } from './list-paging.ts';
import { badParams, notFound, type RpcMethod } from './rpc-method.ts';
import type { AssetProof } from './world-asset-proofs.ts';

type DisplayOptions = Omit<AssetView, 'content' | 'slot'>;

const getAsset: RpcMethod = {
  name: 'getAsset',
  pool: 'das',
  params: { id: 'string', options: assetOptions },
  required: ['id'],
  answer(params, { world, slot }) {
    const { id, options } = params as { id: string; options?: DisplayOptions };
    const row = world.assets.keys.find(id);
    if (row === -1) throw notFound('Asset Not Found');
    return world.assetWriter.write(row, { content: 'full', slot, ...options });
  },
};

const getAssetBatch: RpcMethod = {
  name: 'getAssetBatch',
  pool: 'das',
  params: { ids: 'strings', options: assetOptions },
  required: ['ids'],
  answer(params, { world, slot }) {
    const { ids, options } = params as { ids: string[]; options?: DisplayOptions };
    const rows = distinct(ids).map((id) => world.assets.keys.find(id));
    const view: AssetView = { content: 'full', slot, ...options };
    const records = rows.map((row) => (row === -1 ? 'null' : world.assetWriter.write(row, view)));
    return arrayText(records, isLoose(rows, world.quirks));
  },
};

/** An object by id: null for what is unknown or not compressed. */
const getAssetProofBatch: RpcMethod = {
  name: 'getAssetProofBatch',
  pool: 'das',
  params: { ids: 'strings' },
  required: ['ids'],
  answer(params, { world, slot }) {
    const members = distinct((params as { ids: string[] }).ids).map((id) => {
      const proof = world.assetProofs.proof(world.assets.keys.find(id));
      return `${JSON.stringify(id)}:${proof === null ? 'null' : proofText(proof, slot)}`;
    });
    return `{${members.join(',')}}`;
  },
};

function proofText(proof: AssetProof, slot: number): string {
  return (
    `{"last_indexed_slot":${slot},"root":"${proof.root}","proof":${JSON.stringify(proof.proof)},` +
    `"node_index":${proof.nodeIndex},"leaf":"${proof.leaf}","tree_id":"${proof.tree}","burnt":${proof.burnt}}`
  );
}

function distinct(ids: string[]): string[] {
  if (ids.length > maxLimit) throw badParams(`\`ids\` holds ${ids.length}, at most ${maxLimit} are allowed`);
  return [...new Set(ids)];
}

/** Look-ups of assets by id (spec, "Endpoints"). */
export const assetMethods: readonly RpcMethod[] = [getAsset, getAssetBatch, getAssetProofBatch];
