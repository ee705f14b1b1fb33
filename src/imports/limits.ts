/** Bounds of an import; far above what people write, and small enough that nothing runs away. */
export const importLimits = {
  highestNumber: 1_000_000_000,
  /** Pages of one list: a million rows at fifty each. */
  pages: 20_000,
  /** Entries that one write takes. */
  entriesPerWrite: 500,
  /** Issues that one write takes. */
  issuesPerWrite: 50,
  /** What has been asked for so long is written: a kill takes no more of it away. */
  msPerWrite: 5_000,
  /** Texts of other forges are kept whole up to here, above what a form takes: GitHub counts characters. */
  bodyBytes: 256 * 1024,
  entriesPerIssue: 50_000,
  /** Imports of one person that run or are followed. */
  importsPerPerson: 1_000,
  loginCharacters: 60,
} as const;
