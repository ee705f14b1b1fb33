import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import type { ReviewRow, ThreadRow, Verdict } from '../schema/review-schema.ts';
import { listThreads } from '../threads/list-threads.ts';
import type { ListedThread } from '../threads/list-threads.ts';
import { listRequests } from '../attention/review-requests.ts';
import { listTeamRequests } from '../attention/team-requests.ts';
import { listReviews } from './list-reviews.ts';

const verdictWords: Record<Verdict, string> = {
  COMMENT: 'commented',
  APPROVE: 'approved',
  REQUEST_CHANGES: 'requested changes',
};

/** Reviews formatted for a terminal. */
interface FormattedReviews {
  reviews: readonly ReviewRow[];
  threads: readonly ListedThread[];
  /** Usernames; `ghost` for a deleted account. */
  nameOf(userId: string | null): string;
  /** Usernames with unanswered review requests, and such teams that the viewer may know, as `organisation/team`. */
  waitingFor: string[];
  /**
   * One line with the last verdict of each reviewer: `bob approved (round 2), carol requested changes (round 1,
   * dismissed)`.
   */
  summary: string;
  /** Texts of reviews, then threads with their comments, open ones first. */
  text: string;
}

/** The reviews and threads that the viewer can see. Throws `repository_not_found`, `pull_not_found`, `git_busy`. */
export async function formatReviews(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<FormattedReviews> {
  const [reviews, threads, requests, teams] = await Promise.all([
    listReviews(deps, viewer, at),
    listThreads(deps, viewer, at),
    listRequests(deps, viewer, at),
    listTeamRequests(deps, viewer, at),
  ]);
  const ids = [
    ...reviews.map(({ authorId }) => authorId),
    ...requests.map(({ userId }) => userId),
    ...threads.flatMap(({ comments }) => comments.map(({ authorId }) => authorId)),
  ];
  const people = await deps.accounts.peopleById(ids.filter((id) => id !== null));
  const nameOf = (id: string | null): string => (id === null ? undefined : people.get(id)?.username) ?? 'ghost';
  const last = new Map<string | null, ReviewRow>();
  for (const review of reviews) if (review.verdict !== 'COMMENT') last.set(review.authorId, review);
  const sayRound = ({ round, dismissedAt }: ReviewRow): string =>
    `(round ${round}${dismissedAt === null ? '' : ', dismissed'})`;
  const said = (review: ReviewRow): string =>
    `${nameOf(review.authorId)} ${verdictWords[review.verdict!]} ${sayRound(review)}`;
  const texts = reviews
    .filter(({ body }) => body !== '')
    .map((review) => `\n--- ${said(review)}, ${isoTime(review.submittedAt!)}\n${review.body}\n`);
  const isOpen = ({ resolvedAt }: ThreadRow): boolean => resolvedAt === null;
  const sorted = [...threads.filter(isOpen), ...threads.filter((thread) => !isOpen(thread))];
  return {
    reviews,
    threads,
    nameOf,
    waitingFor: [
      ...requests.flatMap(({ userId, answeredAt }) => (answeredAt === null ? [nameOf(userId)] : [])),
      ...teams.flatMap(({ organisation, team, answeredAt }) =>
        answeredAt === null ? [`${organisation}/${team}`] : [],
      ),
    ],
    summary: [...last.values()].map(said).join(', '),
    text: [...texts, ...sorted.map((thread) => threadText(thread, nameOf))].join(''),
  };
}

function threadText(thread: ListedThread, nameOf: FormattedReviews['nameOf']): string {
  const { path, side, round, resolvedAt, quoted, comments } = thread;
  const now = thread.place ?? { state: null, path, firstLine: thread.firstLine, lastLine: thread.lastLine };
  const isGone = now.state === 'gone';
  const [firstLine, lastLine] = isGone ? [thread.firstLine, thread.lastLine] : [now.firstLine, now.lastLine];
  const lines = firstLine === null ? '' : `:${firstLine}${lastLine === firstLine ? '' : `-${lastLine}`}`;
  const about = path === null ? 'the changes' : `${(isGone ? path : now.path) ?? path}${lines}`;
  const notes = [
    ...(side === 'OLD' ? ['before the change'] : []),
    `round ${round}`,
    ...(now.state === 'changed' ? ['changed since'] : isGone ? ['gone since'] : []),
    resolvedAt === null ? 'open' : 'resolved',
  ];
  const quote = quoted === '' ? '' : `${quoted.trimEnd().replace(/^/gm, '> ')}\n`;
  const written = comments
    .filter(({ deletedAt }) => deletedAt === null)
    .map(({ authorId, createdAt, isDraft, body }) => {
      const draft = isDraft ? ', not sent yet' : '';
      return `${nameOf(authorId)}, ${isoTime(createdAt)}${draft}:\n${body}\n`;
    });
  return `\n--- ${about} (${notes.join(', ')})\n${quote}${written.join('')}`;
}

const isoTime = (epochMs: number): string => new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z');
