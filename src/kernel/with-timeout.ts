/**
 * Resolves or rejects as the work does; rejects with what `late` makes once `timeoutMs` have
 * passed. The work itself cannot be ended from here: what it answers later is dropped.
 */
export async function withTimeout<T>(work: Promise<T> | T, timeoutMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs);
    // A program that has nothing else left to do need not live on for it.
    timer.unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
