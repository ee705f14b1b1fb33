/** Limits of an import: far above real repositories, but low enough to bound its cost. */
export const importLimits = {
  highestNumber: 1_000_000_000,
  /** Pages of one list: a million rows with fifty per page. */
  pages: 20_000,
  /** Entries per write. */
  entriesPerWrite: 500,
  /** Issues per write. */
  issuesPerWrite: 50,
  /** Time in milliseconds after which fetched data is written: a kill loses at most this much. */
  msPerWrite: 5_000,
  /** Texts of other forges are stored whole up to this length, above the limit of a form: GitHub counts characters. */
  bodyBytes: 256 * 1024,
  entriesPerIssue: 50_000,
  /** Running or watched imports per user. */
  importsPerPerson: 1_000,
  loginCharacters: 60,
} as const;
