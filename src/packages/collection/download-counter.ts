import type { PackageDeps } from '../deps.ts';

/** Counts downloads in memory, so that a pull writes nothing; a scheduled task writes the sums. */
export class DownloadCounter {
  #counts = new Map<string, number>();

  add(versionId: string, count = 1): void {
    this.#counts.set(versionId, (this.#counts.get(versionId) ?? 0) + count);
  }

  async flush({ db }: Pick<PackageDeps, 'db'>): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    try {
      await db.write(
        async ({ manager }) => {
          for (const [id, count] of counts)
            await manager.query('UPDATE package_versions SET downloads = downloads + ? WHERE id = ?', [count, id]);
        },
        { durable: 'with-the-next' },
      );
    } catch (error) {
      // The next flush writes them, for example when no other program locks the database.
      for (const [id, count] of counts) this.add(id, count);
      throw error;
    }
  }
}
