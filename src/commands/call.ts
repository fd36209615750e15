import { ApiError } from '../api/api-errors.ts';
import { UsageError } from '../errors.ts';
import { findOperation, listOperations } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { suggestion } from '../suggestion.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { openEndpoints } from './endpoints.ts';
import { readCallParams, sendOne } from './send-one.ts';
import { writeStdout } from './stdio.ts';
import type { Usage } from './usage.ts';

interface CallArgs extends GlobalArgs {
  operation: string;
  params?: string;
}

const twoAssets = '{"groupKey": "collection", "groupValue": "…", "limit": 2}';

export const usage: Usage = {
  arguments: {
    '<operation>': 'Name of the operation: `ledgerlake methods` lists them',
    '[params]': 'Parameters as one JSON object (default: {})',
  },
  examples: {
    'ledgerlake call getLatestCompressionSignatures': 'One page',
    [`ledgerlake call getAssetsByGroup '${twoAssets}' | jq .`]:
      'The first two assets of a collection; continue with page or cursor',
  },
  notes:
    'Sends one request (and its retries), which costs what the operation costs. Prints the result as it came, byte for byte.',
};

export async function execute(args: CallArgs): Promise<number> {
  const operation = chooseOperation(args.operation);
  const params = readCallParams(operation, args.params ?? '{}');
  const context = await openContext(args);
  const endpoints = await openEndpoints(context, { keepSlot: false });
  try {
    const { result } = await sendOne({ context, endpoints, command: 'call' }, operation, params);
    await writeStdout([result, '\n']);
    return 0;
  } catch (error) {
    // The wallet interface answers 404 for a wallet without an identity or a funder.
    const isNoData =
      error instanceof ApiError && error.kind === 'no_data' && operation.transport === 'wallet';
    if (!isNoData) throw error;
    process.stderr.write(`ledgerlake: no data: ${error.serverMessage}\n`);
    await writeStdout(['null\n']);
    return 0;
  } finally {
    await endpoints.close();
  }
}

function chooseOperation(name: string): Operation {
  const operation = findOperation(name);
  if (operation !== undefined) return operation;
  const names = listOperations().map((operation) => operation.name);
  throw new UsageError(
    `no operation is called "${name}"${suggestion(name, names)}`,
    `The operations are ${names.join(', ')}.`,
  );
}
