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

/** MAJOR.MINOR.PATCH, with a pre-release such as `-rc.1` behind. */
export const isVersion = (text: string): boolean =>
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:alpha|beta|rc)\.[1-9]\d*)?$/.test(text);

/** By semantic versioning, for the versions that are released here. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map(parts) as [Parts, Parts];
  for (const index of [0, 1, 2])
    if (a.numbers[index] !== b.numbers[index]) return a.numbers[index]! > b.numbers[index]!;
  if (a.pre === null || b.pre === null) return a.pre === null && b.pre !== null;
  return a.pre[0] === b.pre[0] ? a.pre[1] > b.pre[1] : a.pre[0] > b.pre[0];
}

interface Parts {
  numbers: number[];
  pre: [name: string, count: number] | null;
}

function parts(version: string): Parts {
  const [release = '', pre] = version.split('-');
  const [name = '', count = '0'] = pre?.split('.') ?? [];
  return { numbers: release.split('.').map(Number), pre: pre === undefined ? null : [name, Number(count)] };
}
