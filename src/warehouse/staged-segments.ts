import type { DataFolder } from '../data-folder.ts';
import { stagingFile } from './load.ts';
import type { TableSpec } from './table-spec.ts';

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
