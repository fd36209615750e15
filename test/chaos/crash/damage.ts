import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { blockBytes } from '../../../src/warehouse/database.ts';

/** Ways in which a disk or a power loss damages a file, each at a place that `random` chooses. */
export const damages: Record<string, (path: string, random: () => number) => void> = {
  'cut anywhere': (path, random) => truncateSync(path, Math.floor(random() * sizeOf(path))),
  'cut to nothing': (path) => truncateSync(path, 0),
  'a block of zeros': (path, random) => {
    const blocks = Math.max(1, Math.floor((sizeOf(path) - headers) / block));
    overwrite(path, headers + Math.floor(random() * blocks) * block, Buffer.alloc(block));
  },
  'zeros for a header': (path, random) =>
    overwrite(path, Math.floor(random() * 3) * 4096, Buffer.alloc(4096)),
  'a flipped bit': (path, random) => {
    const offset = Math.floor(random() * sizeOf(path));
    const file = openSync(path, 'r+');
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    byte[0] = (byte[0] as number) ^ (1 << Math.floor(random() * 8));
    writeSync(file, byte, 0, 1, offset);
    closeSync(file);
  },
  'half a block of something else': (path, random) =>
    overwrite(path, Math.floor(random() * (sizeOf(path) - 4096)), Buffer.alloc(4096, 0x5a)),
  'garbage all over': (path) => overwrite(path, 0, Buffer.alloc(sizeOf(path), 0x77)),
  'a log of zeros': (path) => {
    const log = `${path}.wal`;
    if (existsSync(log)) overwrite(log, Math.floor(sizeOf(log) / 2), Buffer.alloc(8192));
    else overwrite(path, 4096, Buffer.alloc(8192));
  },
  'no file': (path) => rmSync(path),
};

const [headers, block] = [3 * 4096, blockBytes];

function sizeOf(path: string): number {
  const file = openSync(path, 'r');
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

function overwrite(path: string, offset: number, bytes: Buffer): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}
