/**
 * The result of some work, or null when it takes longer than `ms` or fails. The work
 * itself goes on, so that its result can be cached for the next caller.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)));
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer));
}
