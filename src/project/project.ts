/** Addresses that a new project follows, by kind. */
export interface Followed {
  collections: readonly string[];
  creators: readonly string[];
  owners: readonly string[];
  wallets: readonly string[];
}

export const schedules = ['cron', 'systemd', 'github', 'kubernetes', 'airflow', 'dagster'] as const;
export type Schedule = (typeof schedules)[number];

export interface ProjectOptions {
  followed: Followed;
  /** Whether the sample API answers, and its collections are followed. */
  isSample: boolean;
  schedules: readonly Schedule[];
  /** Absolute path of the project's folder. */
  folder: string;
  /** Words of a command line that starts this program from any folder. */
  program: readonly string[];
  version: string;
}

/** A file of the project: its path from the folder, and its text. */
export interface ProjectFile {
  path: string;
  text: string;
}
