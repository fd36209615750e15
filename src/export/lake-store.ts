import type { Manifest } from './lake-manifest.ts';

/** What holds the Parquet sets of a lake: a folder, or a prefix of an object store. */
export interface LakeStore {
  /** Refuses what no export made where readers would look for a table, and a lake of another data folder. Changes nothing. */
  check(tables: readonly string[]): Promise<void>;
  /** Makes the lake, and binds it to this data folder. */
  open(): Promise<void>;
  /** Ids of a table's sets, oldest first, after removing what killed exports left. */
  openTable(table: string): Promise<string[]>;
  /** The table's manifest, if every file that it names has its size: a damaged set is written again. */
  readManifest(table: string): Promise<Manifest | null>;
  /** Empty folder of this machine for the files of a set. */
  makeDraft(table: string, id: string): Promise<string>;
  /** Makes a draft's files the table that readers see, and removes the draft. */
  publish(draft: string, manifest: Manifest): Promise<void>;
  /** Makes readers see this set, whose manifest is published already; null: a table without rows. */
  show(table: string, id: string | null): Promise<void>;
  removeSet(table: string, id: string): Promise<void>;
  /** What readers open. */
  addressOf(table: string): string;
}
