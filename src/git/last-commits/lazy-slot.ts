/** A slot that is acquired on first use and released once. */
export class LazySlot {
  readonly #acquire: () => Promise<() => void>;
  #slot: Promise<() => void> | null = null;

  /**
   * @param acquire resolves to the function that releases the slot; it may throw
   */
  constructor(acquire: () => Promise<() => void>) {
    this.#acquire = acquire;
  }

  /** Resolves once the slot is acquired; rejects if `acquire` does. */
  readonly enter = async (): Promise<void> => void (await (this.#slot ??= this.#acquire()));

  async leave(): Promise<void> {
    // A failed acquisition has nothing to release.
    const release = await this.#slot?.catch(() => null);
    release?.();
  }
}
