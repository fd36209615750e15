import type { DataFolder } from '../data-folder.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { stagingFile } from './load.ts';

/** A staged segment and the shape of its records. */
export interface StagedSegment {
  segment: number;
  shape: string;
}

/** The staging files of a table, in landing order. */
export function listFiles(folder: DataFolder, spec: TableSpec, segments: readonly StagedSegment[]): string[] {
  return segments
    .filter(({ shape }) => spec.shapes.includes(shape))
    .map(({ segment }) => stagingFile(folder, segment, spec.name));
}

/** Makes `withheld`: crawls that were refused, or whose turn to be judged comes after those in `ready`. */
export const makeWithheld = `
  create or replace temp table withheld as
  select task, crawl
  from crawl_state
  where state in ('refused', 'held', 'replaced')
    or state = 'ready' and not exists (from ready r where r.task = crawl_state.task and r.crawl = crawl_state.crawl)`;

/** Rows of staging files ($files) that an append-only table takes. */
export const appliedRows = '(from read_parquet($files) anti join withheld using (task, crawl))';
