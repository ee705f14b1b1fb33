import { LogReader } from './log-reader.ts';

/**
 * A log that another process writes, read-only: for a command beside the server. It has its own counters, so a read
 * during a write never changes what the writer counts and acknowledges.
 */
export class LogView extends LogReader {
  #refreshing: Promise<void> | null = null;

  /** Scans for added rows. Concurrent calls share one scan. */
  refresh(): Promise<void> {
    return (this.#refreshing ??= this.load()
      .then(() => this.scan())
      .finally(() => (this.#refreshing = null)));
  }
}
