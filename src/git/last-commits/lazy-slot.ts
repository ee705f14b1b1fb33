/** A slot that is taken when it is first needed, and released once. */
export class LazySlot {
  readonly #acquire: () => Promise<() => void>;
  #slot: Promise<() => void> | null = null;

  /** @param acquire resolves to what releases the slot; it may refuse */
  constructor(acquire: () => Promise<() => void>) {
    this.#acquire = acquire;
  }

  /** Resolves once the slot is there; refused as `acquire` refuses. */
  readonly enter = async (): Promise<void> => void (await (this.#slot ??= this.#acquire()));

  async leave(): Promise<void> {
    // A refused slot has nothing to release.
    const release = await this.#slot?.catch(() => null);
    release?.();
  }
}
