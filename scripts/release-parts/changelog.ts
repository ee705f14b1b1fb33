import { Refusal } from './release-in-progress.ts';

const heading = '## Unreleased';

/**
 * Puts what is unreleased under the version.
 * @param date `2026-01-31`
 * @returns the whole changelog, and the section of the version without its heading
 * @throws Refusal when nothing is unreleased
 */
export function cutChangelog(text: string, version: string, date: string): { text: string; notes: string } {
  const start = text.indexOf(`${heading}\n`);
  if (start < 0) throw new Refusal(`CHANGELOG.md has no section "${heading}".`);
  const begin = start + heading.length;
  const next = text.indexOf('\n## ', begin);
  const notes = text.slice(begin, next < 0 ? undefined : next).trim();
  if (!/^- /m.test(notes)) throw new Refusal('CHANGELOG.md has nothing under "Unreleased".');
  const rest = next < 0 ? '' : text.slice(next);
  return { text: `${text.slice(0, begin)}\n\n## ${version} (${date})\n\n${notes}\n${rest}`, notes: `${notes}\n` };
}
