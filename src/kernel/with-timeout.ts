/**
 * Settles as the work does; rejects with what `late` makes once `timeoutMs` have passed. The work itself is not
 * cancelled; its later result is dropped.
 */
export async function withTimeout<T>(work: Promise<T> | T, timeoutMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs);
    // The timer does not keep the process alive.
    timer.unref();
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
