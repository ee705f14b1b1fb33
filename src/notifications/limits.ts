const dayMs = 24 * 60 * 60_000;

export const limits = {
  /** People that one write notifies: some milliseconds, for which no other write waits noticeably. */
  batchSize: 200,
  /** Rows of one person; above it the oldest that are not saved are deleted. */
  storedPerPerson: 5_000,
  /** Saved rows of one person. */
  savedPerPerson: 1_000,
  /** Limit of counted unread rows; above it the header of a page shows "99+". */
  counted: 100,
  /** Rows that a list of ids may name. */
  idsPerChange: 100,
  /** How long a change may be taken back; the page offers it for a minute. */
  undoMs: 10 * 60_000,
  /** Events of one subject within this time are one mail. */
  mailWindowMs: 60_000,
  /** How long the content of a mail is stored: longer than the outbox tries to send it. */
  mailPartsMs: 30 * dayMs,
  /** Attempts to notify the people of one batch. */
  batchAttempts: 5,
  /** Batches that failed for good are kept so long, so that their error can be read. */
  failedBatchMs: 7 * dayMs,
  feedEntries: 50,
} as const;
