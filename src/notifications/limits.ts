const dayMs = 24 * 60 * 60_000;

export const limits = {
  /** Users notified per transaction: takes some milliseconds, which does not noticeably delay other writes. */
  batchSize: 200,
  /** Rows per user; above it the oldest unsaved ones are deleted. */
  storedPerPerson: 5_000,
  /** Saved rows per user. */
  savedPerPerson: 1_000,
  /** Limit of counted unread rows; above it the header of a page shows "99+". */
  counted: 100,
  /** Maximum number of ids in a list. */
  idsPerChange: 100,
  /** Time during which a change can be undone; the page offers it for a minute. */
  undoMs: 10 * 60_000,
  /** Events of one subject within this time share one mail. */
  mailWindowMs: 60_000,
  /** Time for which the content of a mail is stored: longer than the outbox tries to send it. */
  mailPartsMs: 30 * dayMs,
  /** Attempts to notify the users of one batch. */
  batchAttempts: 5,
  /** Retention time of failed batches, so that their error can be read. */
  failedBatchMs: 7 * dayMs,
  feedEntries: 50,
} as const;
