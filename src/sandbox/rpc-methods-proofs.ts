import { hash } from 'node:crypto';
import type { AccountProof, NewAddressProof } from './compression-trees.ts';
import { maxLimit } from './list-paging.ts';
import { badParams, ListRule, notFound, type RpcMethod, readKey } from './rpc-method.ts';
import { valueText } from './rpc-methods-compression.ts';
import type { World } from './world.ts';

interface NewAddress {
  address: string;
  tree: string;
}

const newAddresses = new ListRule({ address: 'string', tree: 'string' });

const getCompressedAccountProof: RpcMethod = {
  name: 'getCompressedAccountProof',
  pool: 'compression',
  params: { hash: 'string' },
  required: ['hash'],
  answer: (params, { world, slot }) =>
    valueText(slot, JSON.stringify(proveAccount(world, (params as { hash: string }).hash))),
};

const getMultipleNewAddressProofsV2: RpcMethod = {
  name: 'getMultipleNewAddressProofsV2',
  pool: 'compression',
  params: { addresses: newAddresses },
  form: 'list',
  required: ['addresses'],
  answer(params, { world, slot }) {
    const { addresses } = params as { addresses: NewAddress[] };
    if (addresses.length > maxLimit) throw badParams(`at most ${maxLimit} addresses are allowed`);
    return valueText(slot, JSON.stringify(addresses.map((address) => proveAddress(world, address))));
  },
};

const getValidityProof: RpcMethod = {
  name: 'getValidityProof',
  pool: 'proof',
  params: { hashes: 'strings', newAddressesWithTrees: newAddresses },
  required: [],
  answer(params, { world, slot }) {
    const { hashes = [], newAddressesWithTrees = [] } = params as {
      hashes?: string[];
      newAddressesWithTrees?: NewAddress[];
    };
    const count = hashes.length + newAddressesWithTrees.length;
    if (count === 0) throw badParams('`hashes` or `newAddressesWithTrees` must hold something');
    if (count > maxLimit) throw badParams(`at most ${maxLimit} may be proved at once`);
    const accounts = hashes.map((text) => proveAccount(world, text));
    const addresses = newAddressesWithTrees.map((address) => proveAddress(world, address));
    return valueText(slot, JSON.stringify(joinProofs(accounts, addresses, world.quirks)));
  },
};

function proveAccount(world: World, text: string): AccountProof {
  readKey(text, 'hash');
  const number = world.compression.findOpen('hash', text);
  if (number === -1) throw notFound('Record Not Found');
  return world.compression.prove(number);
}

function proveAddress(world: World, { address, tree }: NewAddress): NewAddressProof {
  const { addressTrees } = world.compression;
  const number = addressTrees.keys.find(tree);
  if (number === -1) throw notFound(`Tree Not Found: ${tree}`);
  const proof = addressTrees.prove(number, readKey(address, 'address'));
  if (proof === null) throw badParams(`address ${address} already exists`);
  return proof;
}

/** First the accounts, then the new addresses, for which the leaf is the address itself. */
function joinProofs(accounts: AccountProof[], addresses: NewAddressProof[], quirks: boolean) {
  const proofs = [...accounts, ...addresses];
  const leaves = [...accounts.map(({ hash }) => hash), ...addresses.map(({ address }) => address)];
  const roots = proofs.map(({ root }) => root);
  return {
    compressedProof: compressProof([...leaves, ...roots].join(), quirks),
    leafIndices: [
      ...accounts.map(({ leafIndex }) => leafIndex),
      ...addresses.map(({ lowElementLeafIndex }) => lowElementLeafIndex),
    ],
    leaves,
    merkleTrees: proofs.map(({ merkleTree }) => merkleTree),
    // A tree keeps its last 2,400 roots in a ring.
    rootIndices: proofs.map(({ rootSeq }) => rootSeq % 2400),
    roots,
  };
}

/**
 * A stand-in for the joint proof: bytes derived from the statement, which prove nothing. One in four is base64 strings
 * (spec: strings), the others are lists of byte numbers, as real servers send.
 */
function compressProof(what: string, quirks: boolean) {
  const part = (name: string) => hash('sha256', `${name} ${what}`, 'buffer');
  const [a, b, c] = [part('a'), Buffer.concat([part('b1'), part('b2')]), part('c')];
  const asText = quirks && part('form').readUInt8() % 4 === 0;
  const write = (bytes: Buffer) => (asText ? bytes.toString('base64') : [...bytes]);
  return { a: write(a), b: write(b), c: write(c) };
}

/** The proof methods (spec, "Endpoints"). */
export const proofMethods: readonly RpcMethod[] = [
  getCompressedAccountProof,
  getMultipleNewAddressProofsV2,
  getValidityProof,
];
