/** Which repositories this process is receiving a push for, so that deleting and moving can wait. */
export class RunningPushes {
  readonly #counts = new Map<string, number>();

  has(repositoryId: string): boolean {
    return this.#counts.has(repositoryId);
  }

  async during<T>(repositoryId: string, work: () => Promise<T>): Promise<T> {
    this.#counts.set(repositoryId, (this.#counts.get(repositoryId) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = this.#counts.get(repositoryId)! - 1;
      if (left === 0) this.#counts.delete(repositoryId);
      else this.#counts.set(repositoryId, left);
    }
  }
}
