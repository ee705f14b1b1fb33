import type { Commit } from '../../git/index.ts';
import { viewName } from './plain-text.ts';
import { viewTime, type TimeView } from './times.ts';

export interface CommitView {
  shortId: string;
  subject: string;
  author: string;
  at: TimeView;
}

const maxSubject = 200;

export function viewCommit({ oid, subject, author, committer }: Commit, now: number): CommitView {
  return {
    shortId: oid.slice(0, 10),
    subject: viewName(subject).slice(0, maxSubject) || '(no message)',
    author: viewName(author.name).slice(0, maxSubject) || 'unknown',
    at: viewTime(committer.at, now),
  };
}
