/** How much may be wrong with a night before a guard refuses it (sql/guards/). Shares are of 1. */
export interface Thresholds {
  /** Rows of a target that may leave at once, and of a job that its look-ups may know no longer. */
  vanishedShare: number;
  /** Rows of a job that may leave at once, over all its targets. */
  vanishedJobShare: number;
  /** Rows in which a steady column may become NULL. */
  blankShare: number;
  /** Rows in which any other column may. */
  blankOtherShare: number;
  /** Records of a job that may be older than what is known. */
  staleShare: number;
  /** Slots by which a replica may be behind. */
  lagSlots: number;
  /** No share of fewer rows than this is too much, but for … */
  rows: number;
  /** … all or most rows of a job that has at least so many. */
  fewRows: number;
}

export const defaultThresholds: Thresholds = {
  ...{ vanishedShare: 0.01, vanishedJobShare: 0.1, blankShare: 0.01, blankOtherShare: 0.5, staleShare: 0.5 },
  ...{ lagSlots: 1500, rows: 50, fewRows: 10 },
};
