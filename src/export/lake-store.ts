import type { Manifest } from './lake-manifest.ts';
import type { LakeOwner } from './lake-owner.ts';

/** Where the lake is, and how it is reached. */
export interface StoreSettings {
  /** Folder, or `s3://bucket/prefix`. */
  lake: string;
  owner: LakeOwner;
  /** Permission bits of the files of a folder. */
  fileMode: number;
  /** URL of an object store that is not AWS; null for AWS. */
  endpoint: string | null;
  forcePathStyle: boolean;
  /** Where the files of an object store are written before they are uploaded. */
  tempDir: string;
  signal?: AbortSignal | undefined;
}

/** What holds the Parquet sets of a lake: a folder, or a prefix of an object store. */
export interface LakeStore {
  /** Refuses a lake of another data folder, and anything at a table's address that no export made. Changes nothing. */
  check(tables: readonly string[]): Promise<void>;
  /** Makes the lake, and binds it to this data folder. */
  open(): Promise<void>;
  /** Tables that have sets, or had some. */
  listTables(): Promise<string[]>;
  /** Ids of a table's sets, oldest first, without what killed exports left, which is removed unless `removesOrphans` is false. */
  openTable(table: string, removesOrphans?: boolean): Promise<string[]>;
  /** The table's manifest, if every file that it names has its size: a damaged set is written again. */
  readManifest(table: string): Promise<Manifest | null>;
  /** Empty folder of this machine for the files of a set. */
  makeDraft(table: string, id: string): Promise<string>;
  /** Makes a draft's files the table that readers see, and removes the draft. */
  publish(draft: string, manifest: Manifest): Promise<void>;
  /** Makes readers see this set, whose manifest is published already; null: a table without rows. */
  show(table: string, id: string | null): Promise<void>;
  /** Tries what an export needs of an object store. @throws LakeError */
  probe?(): Promise<void>;
  removeSet(table: string, id: string): Promise<void>;
  /** What readers open. */
  addressOf(table: string): string;
}
