/**
 * Settles as the work does; rejects with the result of `late` after `timeoutMs`. The work itself is not cancelled; its
 * later result is dropped.
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

/** Waits for the work at most `timeoutMs`: then returns undefined. For callers that can continue without its result. */
export async function waitAtMost<T>(work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
