import type { RepositoryAt } from '../find-release.ts';

interface NotesFacts {
  at: RepositoryAt;
  tag: string;
  previous: string | null;
  /** Oldest first. */
  pulls: readonly { number: number; title: string; author: string | null }[];
  /** Oldest first. */
  commits: readonly { oid: string; subject: string }[];
  /** Whether there are more commits than were read. */
  isCut: boolean;
  /** Size limit of the text. */
  maxBytes: number;
}

/** Escapes Markdown in titles; references to issues and users still work. */
const plain = (text: string): string => text.replace(/[\\`*_[\]<>|~]/g, '\\$&');

/** Formats the notes of a release as Markdown; the list ends at the size limit. */
export function formatNotes({ at, tag, previous, pulls, commits, isCut, maxBytes }: NotesFacts): string {
  const page = `/repos/${encodeURIComponent(at.owner)}/${encodeURIComponent(at.name)}`;
  // By its full name: a branch with the same name must not replace the tag.
  const encode = (name: string): string => `refs/tags/${name.split('/').map(encodeURIComponent).join('/')}`;
  const end =
    previous === null
      ? `**All commits**: [${plain(tag)}](${page}/commits/${encode(tag)})`
      : `**All changes**: [${plain(previous)}...${plain(tag)}](${page}/compare/${encode(previous)}...${encode(tag)})`;
  const more = '* …';
  // Reserves space for the end, two headings and the mark of omitted entries.
  let bytesLeft = maxBytes - Buffer.byteLength(`${end}${more}`) - 200;
  let isFull = false;
  const fitting = (lines: readonly string[]): string[] =>
    lines.filter((line) => {
      bytesLeft -= Buffer.byteLength(line) + 1;
      isFull ||= bytesLeft < 0;
      return !isFull;
    });
  const pullLines = fitting(
    pulls.map(
      ({ number, title, author }) => `* ${plain(title)}${author === null ? '' : ` by ${author}`} in #${number}`,
    ),
  );
  const commitLines = fitting(commits.map(({ oid, subject }) => `* ${plain(subject)} (${oid.slice(0, 10)})`));
  if ((isFull || isCut) && (pullLines.length > 0 || commitLines.length > 0))
    (commitLines.length > 0 ? commitLines : pullLines).push(more);
  const sections: string[] = [];
  if (pullLines.length > 0) sections.push(`## What has changed\n\n${pullLines.join('\n')}`);
  if (commitLines.length > 0)
    sections.push(`## ${pullLines.length > 0 ? 'Other commits' : 'What has changed'}\n\n${commitLines.join('\n')}`);
  return [...sections, end].join('\n\n');
}
