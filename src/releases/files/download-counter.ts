import { releaseFileSchema } from '../schema/release-schema.ts';
import type { ReleaseDeps } from '../deps.ts';

/**
 * Counts downloads in memory and adds them to the rows once a minute: a download waits for no write. What a crash
 * loses is the counts of a minute. No address is kept.
 */
export class DownloadCounter {
  #counts = new Map<string, number>();

  add(fileId: string): void {
    this.#counts.set(fileId, (this.#counts.get(fileId) ?? 0) + 1);
  }

  /** For a scheduled task, and at the end. */
  async flush({ db }: Pick<ReleaseDeps, 'db'>): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    await db.write(async ({ manager }) => {
      for (const [id, count] of counts) await manager.increment(releaseFileSchema, { id }, 'downloads', count);
    });
  }
}
