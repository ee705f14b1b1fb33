import type { Commit } from '../../git/index.ts';
import { t } from '../../translation/index.ts';
import type { StatusIconView } from '../app/status-icon.view.ts';
import { viewName } from '../app/printable-names.ts';
import { viewZonedTime, type TimeView } from '../app/times.view.ts';
import type { AuthorView, CommitAuthors } from './commit-authors.ts';
import { codeUrl, commitUrl } from '../app/code-urls.ts';
import { replaceShortCodes } from '../markdown/emoji.ts';
import { viewLinkedText } from '../markdown/linked-text.ts';
import type { TextPart } from '../markdown/linked-text.ts';
import { noReferences } from '../markdown/reference-links.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';

/** A commit in one line. */
export interface CommitLineView {
  oid: string;
  shortId: string;
  subject: string;
  /** The message without its subject; null when empty. */
  body: string | null;
  /** Both with their references as links; null for a text without references. */
  subjectParts: TextPart[] | null;
  bodyParts: TextPart[] | null;
  author: AuthorView;
  /** The committer, when it is not the author. */
  committer: AuthorView | null;
  at: TimeView;
  url: string;
  /** The files at this commit. */
  browse: string;
  /** The status of its checks; null without checks, and on pages that do not show it. */
  commitStatus: StatusIconView | null;
}

const most = { subject: 300, body: 20_000 };

export function viewCommitLine(
  commit: Commit,
  repositoryUrl: string,
  now: number,
  authors: Pick<CommitAuthors, 'of'>,
  commitStatus: StatusIconView | null = null,
  references: ReferenceLinks = noReferences,
): CommitLineView {
  const { oid, author, committer, message } = commit;
  const subject =
    replaceShortCodes(viewName(commit.subject).slice(0, most.subject)) || t('code.commit_line.no_message');
  const rest = message
    .trimStart()
    .replace(/^[^\n]*(?:\n(?!\s*\n)[^\n]*)*\n?/, '')
    .trim();
  const body = rest === '' ? null : rest.slice(0, most.body).split('\n').map(viewName).join('\n');
  const [writer, applier] = [authors.of(author), authors.of(committer)];
  // One person may have used two addresses.
  const isSame =
    writer.url === null
      ? committer.email === author.email && committer.name === author.name
      : writer.url === applier.url;
  return {
    oid,
    shortId: oid.slice(0, 10),
    subject,
    body,
    subjectParts: viewLinkedText(subject, references, true),
    bodyParts: body === null ? null : viewLinkedText(body, references, true),
    author: writer,
    committer: isSame ? null : applier,
    at: viewZonedTime(committer, now),
    url: commitUrl(repositoryUrl, oid),
    browse: codeUrl(repositoryUrl, 'tree', oid),
    commitStatus,
  };
}
