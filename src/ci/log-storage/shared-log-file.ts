import { unavailable } from '../../kernel/index.ts';
import { LogFile } from './log-file.ts';
import type { LogParts } from './log-parts.ts';

/** Error if another node has added rows to a log, or completed it, since the last look; the caller retries. */
const logMoved = () =>
  unavailable('log_moved', 'Another server changed the log at the same time.', { retryAfterSeconds: 1 });

/** The text as a text column of either database returns it. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\uFFFD');

/**
 * A log whose rows are stored as parts in the database. The local file is a copy, so that all readers can read it as a
 * file. Rows are stored as a part before they reach the file. Calls of `follow` and `append` must not overlap.
 */
export class SharedLogFile extends LogFile {
  readonly #taskId: number;
  readonly #parts: LogParts;

  constructor(file: string, taskId: number, parts: LogParts) {
    super(file);
    this.#taskId = taskId;
    this.#parts = parts;
  }

  /**
   * Adds the rows that other nodes have received. Returns false if the log has no parts, because it is empty or
   * complete in the bucket.
   */
  async follow(): Promise<boolean> {
    await this.load();
    const end = await this.#parts.end(this.#taskId);
    if (end === null) return false;
    if (end > this.rows)
      for await (const { firstRow, content } of this.#parts.from(this.#taskId, this.rows))
        if (firstRow === this.rows) await super.append(Buffer.from(content));
    return true;
  }

  /** Refreshes a copy with only one reader. */
  refresh(): Promise<boolean> {
    return this.follow();
  }

  /** Throws `log_moved`. */
  override async append(rows: Buffer): Promise<void> {
    await this.load();
    const content = withoutNul(rows.toString('utf8'));
    const bytes = Buffer.from(content);
    let rowCount = 0;
    for (let feed = bytes.indexOf(0x0a); feed !== -1; feed = bytes.indexOf(0x0a, feed + 1)) rowCount += 1;
    if (!(await this.#parts.add(this.#taskId, { firstRow: this.rows, rowCount, content }))) throw logMoved();
    await super.append(bytes);
  }

  /** Does nothing: the parts are durable, and the file is only a copy. */
  override async sync(): Promise<void> {}
}
