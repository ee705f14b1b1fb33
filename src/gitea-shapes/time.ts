/** What Gitea's clients read as no time. */
export const noTime = '0001-01-01T00:00:00Z';

const limit = 8.64e15;

/**
 * Whole seconds, as Gitea writes times: some clients read no others.
 * @param ms epoch milliseconds; those of commits may be beyond what a date can say
 */
export const giteaTime = (ms: number): string =>
  new Date(Math.min(Math.max(ms, -limit), limit)).toISOString().replace(/\.\d{3}Z$/, 'Z');

export const giteaTimeOrNull = (ms: number | null): string | null => (ms === null ? null : giteaTime(ms));
