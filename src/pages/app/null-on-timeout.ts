/**
 * The result when it comes in time, else null. The work continues: a later request for the same
 * finds it done. A failure counts as no result.
 */
export async function nullOnTimeout<T>(work: Promise<T>, waitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), waitMs)));
  return Promise.race([work.catch(() => null), late]).finally(() => clearTimeout(timer));
}
