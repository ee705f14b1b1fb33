import { unavailable } from '../../kernel/index.ts';
import { LogFile } from './log-file.ts';
import type { LogParts } from './log-parts.ts';

/** Another node has added rows to a log, or completed it, since this one looked. The caller looks again. */
const logMoved = () =>
  unavailable('log_moved', 'The log was changed by another server at the same time.', { retryAfterSeconds: 1 });

/** What a text column of either dialect gives back. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\uFFFD');

/**
 * A log whose truth are its parts in the database: the file of this process is a copy of them, so that everything that
 * reads a log reads it as a file. Rows are a part before they are in the file. One call of `follow` or `append` at a
 * time.
 */
export class SharedLogFile extends LogFile {
  readonly #taskId: number;
  readonly #parts: LogParts;

  constructor(file: string, taskId: number, parts: LogParts) {
    super(file);
    this.#taskId = taskId;
    this.#parts = parts;
  }

  /** Adds what other nodes have received. False when the log has no parts: it is empty, or complete elsewhere. */
  async follow(): Promise<boolean> {
    await this.load();
    const end = await this.#parts.end(this.#taskId);
    if (end === null) return false;
    if (end > this.rows)
      for await (const { firstRow, content } of this.#parts.from(this.#taskId, this.rows))
        if (firstRow === this.rows) await super.append(Buffer.from(content));
    return true;
  }

  /** For a reader of its own. */
  refresh(): Promise<boolean> {
    return this.follow();
  }

  /** Refuses `log_moved`. */
  override async append(rows: Buffer): Promise<void> {
    await this.load();
    const content = withoutNul(rows.toString('utf8'));
    const bytes = Buffer.from(content);
    let rowCount = 0;
    for (let feed = bytes.indexOf(0x0a); feed !== -1; feed = bytes.indexOf(0x0a, feed + 1)) rowCount += 1;
    if (!(await this.#parts.add(this.#taskId, { firstRow: this.rows, rowCount, content }))) throw logMoved();
    await super.append(bytes);
  }

  /** The parts are durable, and the file is only a copy. */
  override async sync(): Promise<void> {}
}
