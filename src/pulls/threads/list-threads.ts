import { personIdOf, refusalOnPull } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, findPull, pathOf, pullInWrite } from '../find-pull.ts';
import { getRoundRow } from '../get-round-row.ts';
import { reviewCommentSchema, threadSchema } from '../schema/review-schema.ts';
import type { ReviewCommentRow, ThreadRow } from '../schema/review-schema.ts';
import { placesIn } from './thread-positions.ts';
import type { ThreadPlace } from './thread-positions.ts';

export interface ListedComment extends ReviewCommentRow {
  /** Whether it belongs to the viewer's draft review, which no other user sees. */
  isDraft: boolean;
}

export interface ListedThread extends ThreadRow {
  /** Id of its author; null once the account is deleted. */
  authorId: string | null;
  /** Whether it was created in the viewer's draft review. */
  isDraft: boolean;
  comments: ListedComment[];
  /** Position in the requested round; null for a thread of a later round. */
  place: ThreadPlace | null;
  mayResolve: boolean;
}

/**
 * The threads that the viewer can see, in order of creation, with their positions in a round. Throws
 * `repository_not_found`, `pull_not_found`, `round_not_found`, `git_busy`.
 * @param options.round the last one if omitted
 */
export async function listThreads(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { round: wanted }: { round?: number | undefined } = {},
): Promise<ListedThread[]> {
  const { issue, pull, facts, repository } = await findPull(deps, viewer, at);
  const round = wanted ?? pull.lastRound;
  if (round !== pull.lastRound) await getRoundRow(deps.db.read, issue.id, round);
  const personId = personIdOf(viewer);
  const comments = Map.groupBy(await visibleComments(deps, issue.id, personId), ({ threadId }) => threadId);
  if (comments.size === 0) return [];
  const threads = (await deps.db.read.findBy(threadSchema, { issueId: issue.id }))
    .filter(({ id }) => comments.has(id))
    .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  const places = await placesIn(deps, pathOf(deps, repository), issue.id, threads, round);
  const pullFacts = factsOfPull(issue, pull);
  return threads.map((thread) => {
    const own = comments.get(thread.id)!;
    const { authorId, isDraft } = own[0]!;
    const isAuthor = personId !== null && authorId === personId;
    return {
      ...thread,
      authorId,
      isDraft,
      comments: own,
      place: places.get(thread.id) ?? null,
      mayResolve: !isDraft && refusalOnPull(viewer, facts, pullFacts, 'resolve', isAuthor) === null,
    };
  });
}

async function visibleComments({ db }: PullDeps, issueId: string, personId: string | null): Promise<ListedComment[]> {
  const { entities, raw } = await db.read
    .createQueryBuilder(reviewCommentSchema, 'c')
    .innerJoin('review_threads', 't', 't.id = c.thread_id')
    .innerJoin('reviews', 'r', 'r.id = c.review_id')
    .addSelect('r.submitted_at', 'submitted')
    .where('t.issue_id = :issueId', { issueId })
    .andWhere('(r.submitted_at IS NOT NULL OR r.author_id = :personId)', { personId: personId ?? '' })
    .getRawAndEntities<{ submitted: number | null }>();
  return entities
    .map((comment, at) => ({ ...comment, isDraft: raw[at]!.submitted === null }))
    .sort((one, other) => one.position - other.position);
}

/**
 * Resolves or reopens a thread; does nothing if it already has this state. Throws `thread_not_found`, also for a thread
 * of a draft, and permission errors.
 */
export async function resolveThread(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { threadId, resolved }: { threadId: string; resolved: boolean },
): Promise<ThreadRow> {
  const found = await findPull(deps, viewer, at);
  const personId = personIdOf(viewer);
  return deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const thread = await manager.findOneBy(threadSchema, { id: threadId, issueId: found.issue.id });
    const first =
      thread === null
        ? null
        : await manager
            .createQueryBuilder(reviewCommentSchema, 'c')
            .innerJoin('reviews', 'r', 'r.id = c.review_id AND r.submitted_at IS NOT NULL')
            .where('c.thread_id = :threadId', { threadId })
            .orderBy('c.position')
            .limit(1)
            .getOne();
    if (thread === null || first === null) throw notFound('thread_not_found', 'There is no such thread.');
    const isAuthor = personId !== null && first.authorId === personId;
    await pullInWrite(deps, tx, viewer, found.issue, 'resolve', isAuthor);
    if ((thread.resolvedAt !== null) === resolved) return thread;
    const change = { resolvedAt: resolved ? now : null, resolvedBy: resolved ? personId : null };
    await manager.update(threadSchema, { id: threadId }, change);
    return { ...thread, ...change };
  });
}
