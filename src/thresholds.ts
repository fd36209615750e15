/** How much may be wrong with a night before a guard refuses it (sql/guards/). Shares are from 0 to 1. */
export interface Thresholds {
  /** Share of a target's rows that may leave in a run, and of a job's look-ups that may find nothing. */
  vanishedShare: number;
  /** Share of a job's rows that may leave in a run, over all its targets. */
  vanishedJobShare: number;
  /** Share of rows in which a steady column may become NULL. */
  blankShare: number;
  /** Share of rows in which any other column may become NULL. */
  blankOtherShare: number;
  /** Share of a job's records that may be older than the tables. */
  staleShare: number;
  /** Slots by which a replica may be behind. */
  lagSlots: number;
  /** Fewer rows than this are never too much, except as `fewRows` says. */
  rows: number;
  /** A job with at least so many rows may not lose all or most of them. */
  fewRows: number;
}

export const defaultThresholds: Thresholds = {
  ...{ vanishedShare: 0.01, vanishedJobShare: 0.1, blankShare: 0.01, blankOtherShare: 0.5, staleShare: 0.5 },
  ...{ lagSlots: 1500, rows: 50, fewRows: 10 },
};
