import { invalid } from '../../kernel/index.ts';

/** Rules that select the versions to keep; a version is deleted only if all rules that are not null agree. */
export interface RetentionRules {
  /** Number of newest versions to keep; null for any number. */
  keep: number | null;
  /** Versions, and tags of images and of npm, that are kept whatever their age: `*` matches any characters. */
  keepTags: readonly string[];
  /** Age in days up to which versions are kept; null for no age. */
  olderThanDays: number | null;
}

const most = { versions: 10_000, days: 36_500, patterns: 50, characters: 128 };

/** Parses requested rules. Throws `package_retention`. */
export function checkRetention({ keep, keepTags, olderThanDays }: RetentionRules): RetentionRules {
  if (keep === null && olderThanDays === null)
    throw refused('A rule needs a number of versions to keep, an age in days, or both.', 'keep');
  if (keep !== null && !(Number.isInteger(keep) && keep >= 1 && keep <= most.versions))
    throw refused(`The number of versions to keep is between 1 and ${most.versions}.`, 'keep');
  if (olderThanDays !== null && !(Number.isInteger(olderThanDays) && olderThanDays >= 1 && olderThanDays <= most.days))
    throw refused(`The age is between 1 and ${most.days} days.`, 'older_than_days');
  const patterns = [...new Set(keepTags.map((one) => one.trim()).filter((one) => one !== ''))];
  if (patterns.length > most.patterns) throw refused(`A rule has at most ${most.patterns} patterns.`, 'keep_tags');
  for (const one of patterns)
    if (one.length > most.characters || !/^[A-Za-z0-9._+*~@:-]+$/.test(one))
      throw refused(
        `A pattern has at most ${most.characters} letters, digits, and ".", "_", "+", "~", "@", ":", "-", "*": ${one.slice(0, 40)}`,
        'keep_tags',
      );
  return { keep, keepTags: patterns, olderThanDays };
}

const refused = (message: string, field: string) => invalid('package_retention', message, { field });

export const readRetention = (json: string): RetentionRules => JSON.parse(json) as RetentionRules;

/** Whether a name matches a pattern. Always linear in both. */
export function fitsPattern(name: string, pattern: string): boolean {
  const parts = pattern.split('*');
  const [first = '', ...others] = parts;
  if (others.length === 0) return name === pattern;
  const last = others.pop()!;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
