/**
 * The program's own errors: one class per exit code, each with a hint that says what to type or change.
 * Anything else that reaches the CLI is a bug and exits 1.
 *
 * Source of the codes: docs/reference/exit-codes.md.
 */
export abstract class LedgerlakeError extends Error {
  abstract readonly exitCode: number;
  /** What the user can do about it. */
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
    this.name = new.target.name;
  }
}

/** Exit 2: something the user wrote (arguments, environment, config, a job file) is invalid. */
export class UsageError extends LedgerlakeError {
  readonly exitCode = 2;
}

/** Exit 74: the disk is full, or a file cannot be read or written. */
export class DiskError extends LedgerlakeError {
  readonly exitCode = 74;
}

/** Exit 74 too: the catalog or the object store of the lake did not take an export. The tables are published. */
export class LakeError extends DiskError {}

/** Exit 74 too: a file's bytes are not what was written. The run that finds a damaged build rebuilds it. */
export class DamagedFile extends DiskError {}

/** Exit 74 too: a page of the landing log, or its page line, is not what was received. */
export class DamagedLanding extends DiskError {}

/** Exit 75: stopped early (budget, time, signal, lock) with everything received kept; the next run continues. */
export class StoppedEarly extends LedgerlakeError {
  /** 69 where the API stopped it (`ApiStopped`). */
  readonly exitCode: 69 | 75 = 75;
}

/** Exit 77: the API refused the key. */
export class KeyRefused extends LedgerlakeError {
  readonly exitCode = 77;
}

/** Chooses, of several failures, the one whose exit code counts; bugs count before all others. Pure. */
export function mostSevere(failures: readonly unknown[]): unknown {
  const rank = (failure: unknown) => {
    const error = asDiskError(failure);
    const index = error instanceof LedgerlakeError ? severity.indexOf(error.exitCode) : -1;
    return index === -1 ? severity.length : index;
  };
  return failures.reduce((worst, failure) => (rank(failure) > rank(worst) ? failure : worst));
}

const severity = [75, 69, 74, 77];

const diskErrorCodes = new Set([
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EROFS',
  'EISDIR',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'EFBIG',
  'EMFILE',
  'ENFILE',
  'ENAMETOOLONG',
  'ELOOP',
]);

const noRights = {
  what: 'may not be read or written by this user',
  hint: 'Run it as the user that owns the files, or correct the permissions: nothing received is lost.',
};

/** The message for a path that cannot be used, by the code of the file system's error. */
const refusals: Readonly<Record<string, { what: string; hint: string; duckdb: string }>> = {
  EACCES: { ...noRights, duckdb: 'Permission denied' },
  EPERM: { ...noRights, duckdb: 'Operation not permitted' },
  EROFS: {
    what: 'may not be written: its file system is read-only',
    hint: 'Mount it writable, or name another folder: nothing received is lost.',
    duckdb: 'Read-only file system',
  },
  ENOTDIR: {
    what: 'cannot be read or written: it, or what it is in, is not a folder',
    hint: 'Name another folder, or move away what stands there: nothing received is lost.',
    duckdb: 'Not a directory',
  },
};

/**
 * Turns an error of the file system or of DuckDB's file layer into a DiskError; returns others unchanged.
 * DuckDB reports a full disk only in words, so its message is read; its other I/O errors begin with `IO Error:`.
 */
export function asDiskError(error: unknown): unknown {
  if (error instanceof LedgerlakeError || !(error instanceof Error)) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (/Trying to read a database file with version number/.test(error.message)) {
    return new UsageError(
      `the database was written by a newer DuckDB: ${error.message}`,
      'Install the ledgerlake that wrote it. Nothing was changed.',
      { cause: error },
    );
  }
  if (isDamaged(error)) {
    return new DamagedFile(
      `a file is damaged: ${error.message.split('\n')[0]}`,
      'Run `ledgerlake publish`: it makes the databases anew from what was received, and keeps the damaged file.',
      { cause: error },
    );
  }
  const parquet =
    /No magic bytes found at end of file '([^'\n]+)'|File '([^'\n]+)' too small to be a Parquet/.exec(
      error.message,
    );
  if (parquet !== null) {
    return new DiskError(
      `${parquet[1] ?? parquet[2]} is damaged: it is no Parquet file any more`,
      'Put it back from a copy, or move it away, as `ledgerlake doctor --repair` does: rows that were published stay, what else was only in it is lost.',
      { cause: error },
    );
  }
  const gone = findGone(error);
  if (gone !== null)
    return new DiskError(
      `${gone} is gone: something removed it while the program was at work`,
      'Run the same command again, and let nothing else remove files of the data folder: `ledgerlake clean` does.',
      { cause: error },
    );
  const refused = findRefusal(error);
  if (refused !== null) {
    const { what, hint } = refusals[refused.code]!;
    return new DiskError(`${refused.path} ${what} (${refused.code})`, hint, { cause: error });
  }
  if (
    (code !== undefined && diskErrorCodes.has(code)) ||
    isDiskFull(error) ||
    /^IO Error: /i.test(error.message)
  ) {
    return new DiskError(
      `cannot write: ${error.message}`,
      'Free some space or repair the permissions, then run the same command again: nothing received is lost.',
      { cause: error },
    );
  }
  return error;
}

/** The file that an error says is not there; null for other errors. */
function findGone({ code, path, message }: NodeJS.ErrnoException): string | null {
  if (code === 'ENOENT' && path !== undefined) return path;
  const [, unmatched, unopened] =
    /^IO Error: (?:No files found that match the pattern "([^"\n]+)"|[^"\n]*"([^"\n]+)"[^"\n]*: No such file or directory)/.exec(
      message,
    ) ?? [];
  return unmatched ?? unopened ?? null;
}

/** The path that an error refuses, and the error's code; null for other errors. DuckDB's errors have only a message. */
function findRefusal(error: NodeJS.ErrnoException): { path: string; code: string } | null {
  const { code, path, message } = error;
  if (code !== undefined && path !== undefined && Object.hasOwn(refusals, code)) return { path, code };
  const [, file, words] = /^IO Error: [^"\n]*"([^"\n]+)"[^"\n]*: ([^"\n]+)/.exec(message) ?? [];
  const known = Object.entries(refusals).find(([, { duckdb }]) => words?.trim() === duckdb);
  return file === undefined || known === undefined ? null : { path: file, code: known[0] };
}

/** Whether an error of DuckDB means that a file is no whole database. Only its message shows that. */
export function isDamaged(error: unknown): boolean {
  return (
    error instanceof Error &&
    !/No space left on device/.test(error.message) &&
    /not a valid DuckDB|Could not read enough bytes|checksum|corrupt|Failure while replaying WAL/i.test(
      error.message,
    )
  );
}

/** Whether an error of DuckDB means that the disk is full. Only its message shows that. */
export function isDiskFull(error: unknown): boolean {
  return (
    error instanceof Error && /No space left on device|Could not write file|Disk quota/i.test(error.message)
  );
}

/** Whether a statement needed more than DuckDB's memory limit. */
export function isOutOfMemory(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('Out of Memory Error');
}
