import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { makeDataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { canonicalJson } from '../jobs/job.ts';
import { landOutside } from '../landing/incoming.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { makeRunId } from '../run/run-log.ts';
import { checkSource } from '../warehouse/build.ts';
import { openDatabase } from '../warehouse/database.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';
import { openEndpoints, originsOf } from './endpoints.ts';
import { type OneAnswer, readCallParams, sendOne } from './send-one.ts';
import type { Usage } from './usage.ts';

interface WebhookArgs extends GlobalArgs {
  action: 'enable' | 'disable';
  id: string;
}

export const usage: Usage = {
  arguments: {
    '<action>': { describe: 'Whether it is to deliver', choices: ['enable', 'disable'] },
    '<id>': 'Id of the webhook, a UUIDv4',
  },
  examples: {
    'ledgerlake webhook disable 3f0c9a52-6d1b-4c8e-9a57-0d2f4b6c8e11': 'Pause its deliveries',
    'ledgerlake webhook enable 3f0c9a52-6d1b-4c8e-9a57-0d2f4b6c8e11 --json':
      'Resume them, also after it was disabled automatically',
  },
  notes:
    'Prints the updated webhook and keeps it for the table webhooks, which the next run fills. The value of its authHeader is neither printed nor kept.',
};

export async function execute(args: WebhookArgs): Promise<number> {
  const operation = findOperation('setWebhookActive') as Operation;
  const request = { webhookID: args.id, active: args.action === 'enable' };
  const params = readCallParams(operation, JSON.stringify(request));
  const context = await openContext(args);
  const endpoints = await openEndpoints(context, { keepSlot: false });
  try {
    const { webhook = '' } = originsOf(endpoints);
    await makeDataFolder(context.folder);
    await refuseOtherSource(context, webhook);
    const answer = await sendOne({ context, endpoints, command: 'webhook' }, operation, params);
    const record = readRecord(answer.result);
    await landRecord(context, operation, { webhook }, answer, args.id);
    printRecord(context, record);
    return 0;
  } finally {
    await endpoints.close();
  }
}

/** Checks, before anything is sent, that the snapshot is bound to this origin. The next run checks again. */
async function refuseOtherSource({ folder, config }: Context, webhook: string): Promise<void> {
  try {
    await access(folder.snapshot);
  } catch {
    return;
  }
  const { memoryLimit } = config.warehouse;
  const options = { memoryLimit, threads: 1, tempDir: folder.temp, readOnly: true };
  const snapshot = await openDatabase(folder.snapshot, options);
  try {
    await checkSource(snapshot, { webhook });
  } finally {
    snapshot.close();
  }
}

/** Lands the record as the only page of a crawl, which is complete: no run requests it. */
async function landRecord(
  { folder }: Context,
  operation: Operation,
  origins: Readonly<Record<string, string>>,
  { records, envelopeText, receivedAt }: OneAnswer,
  id: string,
): Promise<void> {
  const target = id.toLowerCase();
  const params = { webhookID: target };
  const identity = canonicalJson({ job: '_webhook', operation: operation.name, params, target });
  const run = makeRunId(receivedAt, null);
  const page = {
    task: createHash('sha256').update(identity).digest('hex').slice(0, 16),
    crawl: run,
    run,
    job: '_webhook',
    target,
    operation: operation.name,
    params,
    shape: operation.shape,
    carries: [],
    position: null,
    page: 1,
    next: null,
    end: 'exhausted' as const,
    slot: null,
    nulls: 0,
    last_slot: null,
    received_at: receivedAt.toISOString(),
    envelope: envelopeText,
  };
  await landOutside(folder.incoming, origins, page, records);
}

function printRecord(context: Context, answered: Record<string, unknown>): void {
  const record = { has_auth_header: false, ...answered };
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  const lines = Object.entries(record).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${name.padEnd(width)}  ${text.replace(/[\p{Cc}\p{Cf}]/gu, ' ')}`;
  });
  context.print(lines.join('\n'), record);
}

function readRecord(result: Buffer): Record<string, unknown> {
  const record: unknown = JSON.parse(result.toString('utf8'));
  if (typeof record === 'object' && record !== null && !Array.isArray(record))
    return record as Record<string, unknown>;
  throw new UsageError('the answer is not a webhook record', 'Check LEDGERLAKE_WEBHOOK_URL.');
}
