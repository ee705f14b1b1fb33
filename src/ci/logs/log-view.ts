import { LogReader } from './log-reader.ts';

/**
 * A log that another process writes, read-only: for a command beside the server. Its
 * counters are its own, so however it meets a write it never changes what the writer
 * counts and acknowledges.
 */
export class LogView extends LogReader {
  #refreshing: Promise<void> | null = null;

  /** Looks for rows that were added. Calls at the same time share one look. */
  refresh(): Promise<void> {
    return (this.#refreshing ??= this.load()
      .then(() => this.scan())
      .finally(() => (this.#refreshing = null)));
  }
}
