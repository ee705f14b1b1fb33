/**
 * The result if it arrives in time, else null. The work continues, so a later request for the same result finds it. A
 * failure counts as no result.
 */
export async function nullOnTimeout<T>(work: Promise<T>, waitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), waitMs)));
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer));
}
