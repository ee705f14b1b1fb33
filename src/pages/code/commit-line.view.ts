import { createHash } from 'node:crypto';
import type { Commit } from '../../git/index.ts';
import { viewAvatar, type AvatarView } from '../app/avatar.view.ts';
import type { StatusIconView } from '../app/status-icon.view.ts';
import { viewName } from '../app/plain-text.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';
import { codeUrl, commitUrl } from '../app/code-urls.ts';
import { viewLinkedText } from '../markdown/linked-text.ts';
import type { TextPart } from '../markdown/linked-text.ts';
import { noReferences } from '../markdown/reference-links.ts';
import type { ReferenceLinks } from '../markdown/reference-links.ts';

/** A commit in one line. */
export interface CommitLineView {
  oid: string;
  shortId: string;
  subject: string;
  /** The message below its first line; null when there is none. */
  body: string | null;
  /** Both with what they refer to as links; null for a text that refers to nothing. */
  subjectParts: TextPart[] | null;
  bodyParts: TextPart[] | null;
  author: string;
  /** The committer, when it is not the author. */
  committer: string | null;
  avatar: AvatarView;
  at: TimeView;
  url: string;
  /** The files as they were then. */
  browse: string;
  /** What its checks say; null where there are none, and where the page does not ask. */
  commitStatus: StatusIconView | null;
}

const most = { subject: 300, name: 100, body: 20_000 };

/** The picture of an author is made from the address in the commit: the same person has the same one. */
const avatarOf = (email: string): AvatarView =>
  viewAvatar(createHash('sha256').update(email.toLowerCase()).digest('hex'));

export function viewCommitLine(
  commit: Commit,
  repositoryUrl: string,
  now: number,
  commitStatus: StatusIconView | null = null,
  references: ReferenceLinks = noReferences,
): CommitLineView {
  const { oid, author, committer, message } = commit;
  const subject = viewName(commit.subject).slice(0, most.subject) || '(no message)';
  const rest = message
    .trimStart()
    .replace(/^[^\n]*(?:\n(?!\s*\n)[^\n]*)*\n?/, '')
    .trim();
  const body = rest === '' ? null : rest.slice(0, most.body).split('\n').map(viewName).join('\n');
  return {
    oid,
    shortId: oid.slice(0, 10),
    subject,
    body,
    subjectParts: viewLinkedText(subject, references),
    bodyParts: body === null ? null : viewLinkedText(body, references),
    author: viewName(author.name).slice(0, most.name) || 'unknown',
    committer:
      committer.email === author.email && committer.name === author.name
        ? null
        : viewName(committer.name).slice(0, most.name),
    avatar: avatarOf(author.email),
    at: viewTime(committer.at, now),
    url: commitUrl(repositoryUrl, oid),
    browse: codeUrl(repositoryUrl, 'tree', oid),
    commitStatus,
  };
}
