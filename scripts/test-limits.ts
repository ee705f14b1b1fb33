/** How long a test file may run, in seconds, and whether it shares a process with others. */
export const defaultLimitSeconds = 120;

const head = (source: string): string => source.split('\n', 10).join('\n');

/** Of a line `// time limit: 300 s` among the first ten, in seconds; undefined without one. */
export function readTimeLimit(source: string): number | undefined {
  const [, limit] = /^\/\/ time limit: (\d+) s$/m.exec(head(source)) ?? [];
  return limit === undefined ? undefined : Number(limit);
}

/** A line `// runs alone: REASON` among the first ten: the file measures or changes its process. */
export const runsAlone = (source: string): boolean => /^\/\/ runs alone: ./m.test(head(source));
