import { rows } from '../../db/index.ts';
import type { Database } from '../../db/index.ts';

/** Rows of a log from one call. */
interface LogPart {
  firstRow: number;
  rowCount: number;
  /** Whole rows with their line ends. */
  content: string;
}

/** Number of parts in memory at a time; a part has at most a few megabytes. */
const readAtOnce = 4;

/** Rows of incomplete logs, stored in the database because a runner and a reader may be at different nodes. */
export class LogParts {
  readonly #db: Pick<Database, 'read' | 'write'>;

  constructor(db: Pick<Database, 'read' | 'write'>) {
    this.#db = db;
  }

  /** Number of rows of a log; null if it has no parts. */
  async end(taskId: number): Promise<number | null> {
    const [last] = await rows<{ end: number }>(
      this.#db.read,
      `SELECT first_row + row_count AS "end" FROM ci_log_parts WHERE task_id = ? ORDER BY first_row DESC LIMIT 1`,
      [taskId],
    );
    return last === undefined ? null : Number(last.end);
  }

  /** Parts in order, starting with the one that begins with this row. */
  async *from(taskId: number, row: number): AsyncGenerator<LogPart> {
    for (let next = row; ; ) {
      const found = await rows<LogPart>(
        this.#db.read,
        `SELECT first_row AS "firstRow", row_count AS "rowCount", content FROM ci_log_parts
          WHERE task_id = ? AND first_row >= ? ORDER BY first_row LIMIT ${readAtOnce}`,
        [taskId, next],
      );
      for (const part of found) yield { ...part, firstRow: Number(part.firstRow), rowCount: Number(part.rowCount) };
      if (found.length < readAtOnce) return;
      const last = found.at(-1)!;
      next = Number(last.firstRow) + Number(last.rowCount);
    }
  }

  /**
   * Durable when this resolves. Returns false if the log is complete or another node has added rows at this position.
   */
  async add(taskId: number, { firstRow, rowCount, content }: LogPart): Promise<boolean> {
    const added = await this.#db.write(
      ({ manager }) =>
        rows(
          manager,
          `INSERT INTO ci_log_parts (task_id, first_row, row_count, content)
            SELECT id, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT) FROM ci_tasks
            WHERE id = ? AND sealed_at IS NULL
            ON CONFLICT DO NOTHING RETURNING first_row`,
          [firstRow, rowCount, content, taskId],
        ),
      { scope: `task:${taskId}` },
    );
    return added.length > 0;
  }

  async remove(taskId: number): Promise<void> {
    await this.#db.write(({ manager }) => rows(manager, 'DELETE FROM ci_log_parts WHERE task_id = ?', [taskId]), {
      scope: `task:${taskId}`,
    });
  }

  /** Ids of the tasks whose logs have parts. */
  async ids(): Promise<number[]> {
    // Skips from one task to the next instead of reading all parts.
    const found: number[] = [];
    for (;;) {
      const [next] = await rows<{ id: number }>(
        this.#db.read,
        'SELECT task_id AS id FROM ci_log_parts WHERE task_id > ? ORDER BY task_id LIMIT 1',
        [found.at(-1) ?? 0],
      );
      if (next === undefined) return found;
      found.push(Number(next.id));
    }
  }
}
