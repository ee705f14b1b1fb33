import { In, IsNull } from 'typeorm';
import { anonymous } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { AnnouncedEntry, EntryListener, EntryLog } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { pathOf, pullById } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { ownersOfFiles } from '../code-owners/owners-of-files.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { reviewCommentSchema, reviewSchema, threadSchema } from '../schema/review-schema.ts';
import { attentionSchema, reviewRequestSchema } from '../schema/attention-schema.ts';
import { askOwnerTeams } from './team-requests.ts';

/** Data gathered before the write. */
interface Prepared {
  /** Owners of the changed files who must be asked for a review. */
  ownerIds: string[];
  /** Teams that own changed files. */
  teamIds: string[];
  /** The log of the write, whose entries are announced once it is durable. */
  log?: EntryLog;
}

/** Entries after which owners of the changed files are asked for a review. */
const bringsCode: readonly string[] = ['opened', 'round', 'retargeted', 'ready'];
/** Entries after which it is nobody's turn. */
const ends: readonly string[] = ['closed', 'merged', 'draft'];
const changesTurns: readonly string[] = [...bringsCode, ...ends, 'reopened', 'asked', 'comment', 'review'];

/**
 * Records whose turn it is. After a new round: reviewers with open threads, and those who requested changes. After a
 * comment of a reviewer: the author and the submitter of the code. After a review request: the reviewer, until they
 * answer. After the end: nobody. The actor never has a turn. Also asks each owner of changed files once. For teams, the
 * view `team_reviewers` lists the members whose turn it is, and follows changes of the team.
 */
export const attentionListener = (deps: PullDeps): EntryListener<Prepared> => ({
  name: 'review turns',
  async prepare({ issue, entry, repository }: AnnouncedEntry) {
    if (issue.kind !== 'PULL' || !changesTurns.includes(entry.kind)) return null;
    const found = bringsCode.includes(entry.kind) ? await pullById(deps, issue.id) : null;
    if (found === null || !found.pull.isOpen || found.pull.isDraft) return { ownerIds: [], teamIds: [] };
    const { groups } = await ownersOfFiles(deps, pathOf(deps, repository), repository, found.pull);
    const named = [...new Set(groups.flatMap(({ userIds }) => userIds))];
    return {
      ownerIds: await deps.issues.readersAmong({ repository, issue }, named),
      teamIds: [...new Set(groups.flatMap(({ teamIds }) => teamIds))],
    };
  },
  async record(tx, { issue: announced, entry }, prepared) {
    const pull = await tx.manager.findOneBy(pullSchema, { issueId: announced.id });
    if (pull === null) return;
    const actorId = entry.authorId;
    if (actorId !== null) await tx.manager.delete(attentionSchema, { issueId: pull.issueId, userId: actorId });
    const isOver = !pull.isOpen || pull.isDraft;
    if (isOver || ends.includes(entry.kind)) {
      if (isOver) await tx.manager.delete(attentionSchema, { issueId: pull.issueId });
      return;
    }
    const turn = (userIds: readonly (string | null)[], reason: string): Promise<void> =>
      giveTurn(tx, pull.issueId, userIds, reason, actorId);
    const authors = [announced.authorId, pull.submitterId];
    const isByAuthor = actorId !== null && authors.includes(actorId);
    const details = entry.details as { userId?: unknown; removed?: unknown; reviewId?: unknown };
    switch (entry.kind) {
      case 'asked':
        if (typeof details.userId !== 'string') break;
        if (details.removed === true)
          await tx.manager.delete(attentionSchema, { issueId: pull.issueId, userId: details.userId });
        else await turn([details.userId], 'asked');
        break;
      case 'round':
        await turn(await waitingReviewers(tx, pull, authors), 'round');
        break;
      case 'ready':
      case 'reopened':
        await turn(await unanswered(tx, pull.issueId), 'asked');
        break;
      case 'comment':
        if (!isByAuthor) await turn(authors, 'reply');
        break;
      case 'review':
        if (!isByAuthor) await turn(authors, 'review');
        else if (typeof details.reviewId === 'string')
          await turn(await answeredBy(tx, details.reviewId, authors), 'reply');
        break;
    }
    if (prepared.ownerIds.length + prepared.teamIds.length > 0)
      prepared.log = await askOwners(deps, tx, { pull, authors }, prepared);
  },
  recorded({ issue, entry }, { log }) {
    // The branch may have moved while it was closed.
    if (entry.kind === 'reopened') deps.mergeStates.add([issue.id]);
    if (log !== undefined) deps.issues.pulls.announce(log);
  },
});

async function giveTurn(
  { manager, now }: Tx,
  issueId: string,
  userIds: readonly (string | null)[],
  reason: string,
  actorId: string | null,
): Promise<void> {
  for (const userId of new Set(userIds)) {
    if (userId === null || userId === actorId) continue;
    const row = { issueId, userId, reason, since: now };
    // Keeps the row of a user who has waited longer.
    await manager.createQueryBuilder().insert().into(attentionSchema).values(row).orIgnore().execute();
  }
}

/** Reviewers with open threads, those whose last verdict requests changes, and those who were asked. */
async function waitingReviewers(tx: Tx, { issueId }: PullRow, authors: readonly (string | null)[]): Promise<string[]> {
  const { manager } = tx;
  const open: { author_id: string | null }[] = await manager
    .createQueryBuilder(threadSchema, 't')
    .innerJoin('review_comments', 'c', 'c.thread_id = t.id AND c.position = 1')
    .innerJoin('reviews', 'r', 'r.id = c.review_id AND r.submitted_at IS NOT NULL')
    .select('c.author_id', 'author_id')
    .where('t.issue_id = :issueId AND t.resolved_at IS NULL AND c.deleted_at IS NULL', { issueId })
    .getRawMany();
  const reviews = await manager
    .createQueryBuilder(reviewSchema, 'r')
    .where('r.issue_id = :issueId AND r.submitted_at IS NOT NULL', { issueId })
    .andWhere("r.dismissed_at IS NULL AND r.verdict <> 'COMMENT'")
    .orderBy('r.submitted_at')
    .getMany();
  const last = new Map(reviews.map(({ authorId, verdict }) => [authorId, verdict]));
  const against = [...last].flatMap(([id, verdict]) => (verdict === 'REQUEST_CHANGES' ? [id] : []));
  const all = [...open.map(({ author_id: id }) => id), ...against, ...(await unanswered(tx, issueId))];
  return all.filter((id): id is string => id !== null && !authors.includes(id));
}

async function unanswered({ manager }: Tx, issueId: string): Promise<string[]> {
  const rows = await manager.findBy(reviewRequestSchema, { issueId, answeredAt: IsNull() });
  return rows.map(({ userId }) => userId);
}

/** Authors of the threads that a review of the author answers. */
async function answeredBy(
  { manager }: Tx,
  reviewId: string,
  authors: readonly (string | null)[],
): Promise<(string | null)[]> {
  const replies = await manager.findBy(reviewCommentSchema, { reviewId });
  if (replies.length === 0) return [];
  const threadId = In([...new Set(replies.map((reply) => reply.threadId))]);
  const first = await manager.findBy(reviewCommentSchema, { threadId, position: 1 });
  return first.map(({ authorId }) => authorId).filter((id) => !authors.includes(id));
}

/** Asks owners who were never asked on this pull request. Returns the log of the entries. */
async function askOwners(
  deps: PullDeps,
  tx: Tx,
  { pull, authors }: { pull: PullRow; authors: readonly (string | null)[] },
  { ownerIds, teamIds }: Pick<Prepared, 'ownerIds' | 'teamIds'>,
): Promise<EntryLog> {
  const { manager, now } = tx;
  const { issueId } = pull;
  const log = deps.issues.pulls.logIn(tx, anonymous);
  const current = await manager.findOneBy(issueSchema, { id: issueId });
  if (current === null) return log;
  const rows = await manager.findBy(reviewRequestSchema, { issueId });
  const known = new Set(rows.map(({ userId }) => userId));
  let asked = rows.filter(({ reason }) => reason === 'owner').length;
  for (const userId of ownerIds) {
    if (known.has(userId) || authors.includes(userId) || known.size >= limits.requests) continue;
    if (asked >= limits.ownerRequests) break;
    asked += 1;
    known.add(userId);
    const row = { issueId, userId, reason: 'owner', askedBy: null, askedAt: now, answeredAt: null } as const;
    await manager.insert(reviewRequestSchema, row);
    await giveTurn(tx, issueId, [userId], 'owner', null);
    await deps.issues.pulls.subscribeOnce(tx, issueId, userId, 'assigned');
    await log.append(current, { kind: 'asked', details: { userId, reason: 'owner' } });
  }
  await askOwnerTeams(deps, log, { issue: current, pull }, teamIds);
  return log;
}
