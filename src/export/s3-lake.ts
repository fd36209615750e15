import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import PQueue from 'p-queue';
import { LakeError, LedgerlakeError } from '../errors.ts';
import { isExportId, type Manifest, manifestOf, setsOf } from './lake-manifest.ts';
import { makeFolderId, readFolderId, refuseForeignLake } from './lake-owner.ts';
import type { LakeStore, StoreSettings } from './lake-store.ts';

const ownerKey = '_lake.json';

/** Files uploaded at once, and parts of each: with parts of 8 MB, 64 MB are in memory. */
const [filesAtOnce, partsAtOnce, partBytes] = [2, 4, 8 << 20];

/**
 * A lake in an object store, where nothing can be swapped. The manifest is the pointer: it is put last, and only if nobody else has put
 * one since it was read. Sets are in `.sets/`, so that listing `<table>/` finds nothing, rather than two sets at once.
 */
export function openS3Lake({ lake, owner, tempDir, signal, ...settings }: StoreSettings): LakeStore {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)\/?(.*?)\/*$/.exec(lake) as unknown as [string, string, string];
  const keyOf = (path: string) => (prefix === '' ? path : `${prefix}/${path}`);
  const objects = openBucket({ bucket, lake, signal, ...settings });
  /** ETags of the manifests as they were read. */
  const tags = new Map<string, string | null>();
  const readText = async (path: string) => {
    const found = await objects.get(keyOf(path));
    tags.set(path, found?.tag ?? null);
    return found === null ? null : (JSON.parse(found.text) as unknown);
  };
  const checkOwner = async (own: string | null) => {
    const found = ((await readText(ownerKey)) as { data_folder: string } | null)?.data_folder ?? null;
    refuseForeignLake(lake, { found, own, isInside: false }, `remove ${lake}/${ownerKey}`);
    return found;
  };
  const removeSet = async (table: string, id: string) => {
    const found = await objects.list(keyOf(`${setsOf(table)}/${id}/`));
    await objects.remove(found.map(({ key }) => key));
  };
  const listIds = async (path: string) => {
    const start = keyOf(`${path}/`);
    const found = await objects.list(start);
    return [...new Set(found.map(({ key }) => key.slice(start.length).split('/')[0]!))].sort();
  };
  return {
    async check() {
      await checkOwner(await readFolderId(owner));
    },
    async open() {
      const own = await makeFolderId(owner);
      if ((await checkOwner(own)) === null)
        await objects.put(keyOf(ownerKey), JSON.stringify({ data_folder: own }), null);
    },
    listTables: () => listIds('.sets'),
    async openTable(table, removesOrphans = true) {
      const published = ((await readText(manifestOf(table))) as Manifest | null)?.export_id ?? '';
      const ids = (await listIds(setsOf(table))).filter(isExportId);
      if (removesOrphans) for (const id of ids) if (id > published) await removeSet(table, id);
      return ids.filter((id) => id <= published);
    },
    async readManifest(table) {
      const manifest = (await readText(manifestOf(table))) as Manifest | null;
      if (manifest === null) return null;
      const found = await objects.list(keyOf(`${setsOf(table)}/${manifest.export_id}/`));
      const sizes = new Map(found.map(({ key, bytes }) => [key, bytes]));
      return manifest.files.every(({ path, bytes }) => sizes.get(keyOf(path)) === bytes) ? manifest : null;
    },
    async makeDraft(table, id) {
      const draft = join(tempDir, `lake-${table}-${id}`);
      await rm(draft, { recursive: true, force: true });
      await mkdir(draft, { recursive: true });
      return draft;
    },
    async publish(draft, manifest) {
      const set = `${setsOf(manifest.table)}/${manifest.export_id}/`;
      const queue = new PQueue({ concurrency: filesAtOnce });
      await queue.addAll(
        manifest.files.map(
          ({ path }) =>
            () =>
              objects.upload(keyOf(path), join(draft, path.slice(set.length))),
        ),
      );
      const path = manifestOf(manifest.table);
      await objects.put(keyOf(path), `${JSON.stringify(manifest, null, 2)}\n`, tags.get(path) ?? null);
      await rm(draft, { recursive: true });
    },
    // Readers follow the manifest.
    show: async () => undefined,
    async probe() {
      const key = keyOf(`_probe-${randomUUID()}`);
      await objects.list(keyOf('_probe-'));
      await objects.put(key, '', null);
      const twice = await objects.put(key, '', null).then(
        () => true,
        () => false,
      );
      await objects.remove([key]);
      if (twice)
        throw new LakeError(
          `${lake} overwrites an object on a PUT with If-None-Match`,
          'Choose an object store that supports If-None-Match; until then, let nothing else export there.',
        );
    },
    removeSet,
    addressOf: (table) => `${lake}/${manifestOf(table)}`,
  };
}

interface BucketSettings extends Pick<StoreSettings, 'endpoint' | 'forcePathStyle' | 'signal' | 'lake'> {
  bucket: string;
}

/** The few operations that a lake needs. The SDK is loaded with the first: half a second that other commands do not pay. */
function openBucket({ bucket, endpoint, forcePathStyle, signal, lake }: BucketSettings) {
  let opened: Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> | null = null;
  const open = () => {
    // The SDK warns on stderr that next year's versions need Node 22; this version is pinned.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    opened ??= import('@aws-sdk/client-s3').then((sdk) => {
      const own =
        endpoint === null ? {} : { endpoint, ...offAws, region: process.env.AWS_REGION ?? 'us-east-1' };
      return { sdk, client: new sdk.S3Client({ forcePathStyle, maxAttempts: 5, ...own }) };
    });
    return opened;
  };
  const options = signal === undefined ? {} : { abortSignal: signal };
  const attempt = async <T>(work: (loaded: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> => {
    try {
      return await work(await open());
    } catch (error) {
      signal?.throwIfAborted();
      throw describeFailure(lake, error);
    }
  };
  return {
    /** Null for an object that is not there. */
    get: (key: string) =>
      attempt(async ({ sdk, client }) => {
        try {
          const found = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key }), options);
          return { text: (await found.Body?.transformToString()) ?? '', tag: found.ETag ?? null };
        } catch (error) {
          if (error instanceof sdk.NoSuchKey) return null;
          throw error;
        }
      }),
    /** @param tag of the object that it replaces; null: there must be none */
    put: (key: string, text: string, tag: string | null) =>
      attempt(({ sdk, client }) => {
        const condition = tag === null ? { IfNoneMatch: '*' } : { IfMatch: tag };
        return client.send(
          new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body: text, ...condition }),
          options,
        );
      }),
    upload: (key: string, file: string) =>
      attempt(async ({ client }) => {
        const { Upload } = await import('@aws-sdk/lib-storage');
        const params = { Bucket: bucket, Key: key, Body: createReadStream(file, { highWaterMark: 1 << 20 }) };
        const upload = new Upload({ client, params, queueSize: partsAtOnce, partSize: partBytes });
        signal?.addEventListener('abort', () => void upload.abort(), { once: true });
        await upload.done();
      }),
    list: (start: string) =>
      attempt(async ({ sdk, client }) => {
        const found: { key: string; bytes: number }[] = [];
        const pages = sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: start });
        for await (const { Contents = [] } of pages)
          for (const { Key = '', Size = 0 } of Contents) found.push({ key: Key, bytes: Size });
        return found;
      }),
    remove: (keys: readonly string[]) =>
      attempt(async ({ sdk, client }) => {
        for (const Key of keys)
          await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key }), options);
      }),
  };
}

/** Other object stores refuse the checksums that the SDK adds for AWS. */
const offAws = {
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
} as const;

function describeFailure(lake: string, error: unknown): unknown {
  if (error instanceof LedgerlakeError || !(error instanceof Error)) return error;
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
  if (status === 412 || status === 409)
    return new LakeError(
      `another program exported to ${lake} at the same time`,
      'Its export stays. Run `ledgerlake export` again.',
      { cause: error },
    );
  return new LakeError(
    `the lake ${lake} was not exported to: ${error.name}${status === undefined ? '' : ` (HTTP ${status})`}: ${error.message.split('\n')[0]}`,
    'The tables are published, and the lake has its former export. Check the credentials (`ledgerlake doctor`), then run `ledgerlake export`; the next run does it, too.',
    { cause: error },
  );
}
