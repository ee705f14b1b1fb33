import { releaseFileSchema } from '../schema/release-schema.ts';
import type { ReleaseDeps } from '../deps.ts';

/**
 * Counts downloads in memory and adds them to the rows once a minute, so that downloads do not wait for writes. A crash
 * loses the counts of one minute. IP addresses are not stored.
 */
export class DownloadCounter {
  #counts = new Map<string, number>();

  add(fileId: string): void {
    this.#counts.set(fileId, (this.#counts.get(fileId) ?? 0) + 1);
  }

  /** Called by a scheduled task and at shutdown. */
  async flush({ db }: Pick<ReleaseDeps, 'db'>): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    await db.write(async ({ manager }) => {
      for (const [id, count] of counts) await manager.increment(releaseFileSchema, { id }, 'downloads', count);
    });
  }
}
