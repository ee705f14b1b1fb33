import { invalid } from '../../kernel/index.ts';

const most = 100_000;

/** The number of `--limit`. Throws `usage`. */
export function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count < 1 || count > most)
    throw invalid('usage', `--limit must be a number from 1 to ${most}.`);
  return count;
}
