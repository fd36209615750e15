import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiKey, readApiKey } from '../api/api-key.ts';
import type { Config } from '../config/config.ts';
import { makeDataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { exists } from '../landing/segment-files.ts';
import type { Transport } from '../operations/operation.ts';
import type { Sandbox } from '../sandbox/server.ts';
import type { Context } from './context.ts';

/** Where the API answers. */
export interface Endpoints {
  endpoints: Partial<Record<Transport, string>>;
  /** The embedded sandbox answers: sample data, whose origin is `sandbox` whatever its port. */
  sandbox: boolean;
  /** The sandbox's own key, or that of the environment and the `.env` files. */
  key: ApiKey;
  /** Stops the sandbox, if there is one. */
  close(): Promise<void>;
}

export interface EndpointsOptions {
  /**
   * Keep the embedded sandbox's slot in the data folder, so that the next run's answers are newer than this one's.
   * Default: true. `call`, which writes nothing, sets false.
   */
  keepSlot?: boolean;
}

// A killed process cannot record its last slot, so the next one begins above all that it may have used.
// 1,000,000 slots are 660,000 requests and take 5 ms to skip.
const reservedSlots = 1_000_000;
// A greater number was not written here, and skipping so far would hang.
const maxSlot = 10_000_000_000;

/**
 * The configured base URLs, or the embedded sandbox (fixed seed, default world) where sample data was asked for; it says
 * so once.
 * @throws DiskError when the data folder cannot be written (only with the sandbox)
 */
export async function openEndpoints(context: Context, options: EndpointsOptions = {}): Promise<Endpoints> {
  const { config } = context;
  if (!config.sandbox) {
    const urls = Object.entries(urlsOf(config)).filter(([, url]) => url !== undefined);
    const { envFiles, keyPlaces: places } = config;
    return {
      endpoints: Object.fromEntries(urls),
      sandbox: false,
      key: readApiKey(process.env, { envFiles, places }),
      close: async () => undefined,
    };
  }
  context.tell('the sample API inside the program answers: this is SAMPLE DATA');
  // Loaded only here, because a configured API does not need it.
  const { startSandbox } = await import('../sandbox/server.ts');
  const sandbox = await startSandbox();
  const release = options.keepSlot === false ? undefined : await reserveSlots(context, sandbox);
  return {
    endpoints: { rpc: sandbox.url, wallet: sandbox.url, webhook: sandbox.url },
    sandbox: true,
    key: readApiKey({ LEDGERLAKE_API_KEY: 'sandbox' }),
    async close() {
      await sandbox.close();
      await release?.();
    },
  };
}

/** The URLs of the config, by interface. */
export function urlsOf({ rpcUrl, walletUrl, webhookUrl }: Config): Record<Transport, string | undefined> {
  return { rpc: rpcUrl, wallet: walletUrl, webhook: webhookUrl };
}

/** Checks, before the first request, that every job's interface has a URL. @throws UsageError naming the job */
export function requireUrls(config: Config, jobs: readonly Job[]): void {
  const urls = urlsOf(config);
  // Whoever sends requests has been refused already (readConfig).
  if (Object.values(urls).every((url) => url === undefined)) return;
  for (const { file, operation } of jobs) {
    const { name, transport } = operation;
    if (urls[transport] !== undefined) continue;
    throw new UsageError(
      `${file}: ${name} asks the ${transport} interface, which has no URL`,
      `Set LEDGERLAKE_${transport.toUpperCase()}_URL, or api.${transport}_url in ledgerlake.yaml.`,
    );
  }
}

/** The embedded sandbox has another port every time; to the data folder it is one source. */
export function originsOf({ endpoints, sandbox, key }: Omit<Endpoints, 'close'>): Record<string, string> {
  const entries = Object.entries(endpoints).map(([name, url]) => [
    name,
    sandbox ? 'sandbox' : key.sourceOf(url),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Brings the sandbox above every slot this data folder has seen. @returns a function that records the last slot */
async function reserveSlots({ folder }: Context, sandbox: Sandbox): Promise<() => Promise<void>> {
  await makeDataFolder(folder);
  const file = join(folder.root, 'sandbox.json');
  // A folder with data of another source is refused later, and left as it is.
  if (!(await exists(file)) && (await exists(folder.build))) return async () => {};
  const seen = await readSlot(file);
  while (sandbox.world.slot < seen) sandbox.world.advanceSlot();
  await writeSlot(file, sandbox.world.slot + reservedSlots);
  return () => writeSlot(file, sandbox.world.slot);
}

/** 0 without a readable file: no run depends on it. */
async function readSlot(file: string): Promise<number> {
  try {
    const { slot } = JSON.parse(await readFile(file, 'utf8')) as { slot: unknown };
    return typeof slot === 'number' && slot <= maxSlot ? slot : 0;
  } catch {
    return 0;
  }
}

async function writeSlot(file: string, slot: number): Promise<void> {
  const draft = `${file}.tmp`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ slot })}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
