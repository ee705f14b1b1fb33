import { In } from 'typeorm';
import type { EntitySchema, FindOptionsWhere } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { ImportedPerson, PreparedPull } from '../../issues/index.ts';
import { entrySchema, issueSchema } from '../../issues/index.ts';
import { pullSchema, unknownState } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { reviewCommentSchema, reviewSchema, threadPositionSchema, threadSchema } from '../schema/review-schema.ts';
import { roundCommitSchema, roundSchema } from '../schema/round-schema.ts';
import { attentionSchema, reviewRequestSchema, teamReviewRequestSchema } from '../schema/attention-schema.ts';
import type { ReviewRequestRow } from '../schema/attention-schema.ts';
import type { PullDeps } from '../deps.ts';
import type { ReadRound } from '../rounds/read-round.ts';
import type { PullFile } from './pull-file.ts';

/** Context for creating the rows of a pull request. */
interface PullContext {
  issueId: string;
  repositoryId: string;
  /** Resolves names in the files to users. */
  people: { idOf(person: ImportedPerson | null): string | null; isOwn: boolean; keepsNames: boolean };
  /** New ids of reviews and threads, by those in the export. */
  ids: PreparedPull['ids'];
  /** Rewrites URLs in texts to those of this instance. */
  text(given: string): string;
  /** Data that git has read about the rounds. */
  rounds: ReadonlyMap<number, ReadRound>;
  /** Positions of log entries here, by their positions in the export. */
  positions: ReadonlyMap<number, number>;
  /** Whether replies were also written here; then comments are identified by their origin. */
  isFollowed: boolean;
}

const rowsPerInsert = 100;

/** Inserts the code of a pull request, or the parts that an earlier import lacks. */
export async function writePull(
  deps: Pick<PullDeps, 'repositories'>,
  tx: Tx,
  pull: PullFile,
  context: PullContext,
): Promise<void> {
  await writeRow(tx, pull, context);
  await writeRounds(tx, pull, context);
  await writeReviews(tx, pull, context);
  await writeThreads(tx, pull, context);
  await writeRequests(tx, pull, context);
  await writeTeamRequests(deps, tx, pull, context);
}

/** The account of a person, or the name of one without an account here. */
function whoIs({ people }: PullContext, person: ImportedPerson | null): { id: string | null; name: string | null } {
  const id = people.idOf(person);
  return { id, name: id === null || people.keepsNames ? (person?.name ?? null) : null };
}

async function writeRow({ manager }: Tx, pull: PullFile, context: PullContext): Promise<void> {
  const { issueId, repositoryId } = context;
  const last = pull.rounds.at(-1)!;
  const [submitter, merger] = [whoIs(context, pull.submitter), whoIs(context, pull.mergedBy)];
  const issue = await manager.findOneByOrFail(issueSchema, { id: issueId });
  const columns = {
    isOpen: issue.state === 'OPEN' && issue.deletedAt === null,
    isDraft: pull.isDraft,
    baseBranch: pull.baseBranch,
    source: pull.source,
    // A fork is another repository, which an import cannot name.
    headRepositoryId: pull.isOwnBranch ? repositoryId : null,
    headBranch: pull.headBranch,
    topic: pull.topic,
    submitterId: submitter.id,
    submitterName: submitter.name,
    lastRound: last.round,
    headOid: last.headOid,
    baseOid: last.baseOid,
    maintainersMayPush: pull.maintainersMayPush,
    stackedOnOid: pull.stackedOnOid,
    mergeStyle: pull.mergeStyle,
    mergedBy: merger.id,
    mergedByName: merger.name,
    mergedOid: pull.mergedOid,
    mergedOntoOid: pull.mergedOntoOid,
    mergedAt: pull.mergedAt,
  } satisfies Partial<PullRow>;
  if (await manager.existsBy(pullSchema, { issueId }))
    return void (await manager.update(pullSchema, { issueId }, columns));
  await manager.insert(pullSchema, {
    issueId,
    repositoryId,
    ...columns,
    ...unknownState,
    mergeWhenReadyBy: null,
    mergeWhenReadyRound: null,
    mergeWhenReady: null,
    mergePushId: null,
  });
}

async function writeRounds(tx: Tx, pull: PullFile, context: PullContext): Promise<void> {
  const { issueId, rounds: found } = context;
  const present = new Set((await tx.manager.findBy(roundSchema, { issueId })).map(({ round }) => round));
  const missing = pull.rounds.filter(({ round }) => !present.has(round));
  const rows = missing.map(({ round, headOid, baseOid, change, note, submitter, createdAt }) => {
    const { id, name } = whoIs(context, submitter);
    return {
      ...{ issueId, round, headOid, baseOid, change, note, createdAt },
      commitCount: found.get(round)!.commitCount,
      pushId: null,
      submitterId: id,
      submitterName: name,
      bytes: 0,
    };
  });
  await insertAll(tx, roundSchema, rows);
  const commits = missing.flatMap(({ round }) =>
    found.get(round)!.commits.map(({ oid, subject, changeId }, at) => ({
      ...{ issueId, round, oid, subject, changeId },
      position: at + 1,
    })),
  );
  await insertAll(tx, roundCommitSchema, commits);
}

async function writeReviews(tx: Tx, pull: PullFile, context: PullContext): Promise<void> {
  const { issueId, ids, text } = context;
  const rows = pull.reviews.map((review) => {
    const [author, dismisser] = [whoIs(context, review.author), whoIs(context, review.dismissedBy)];
    return {
      id: ids.reviews.get(review.id)!,
      issueId,
      round: review.round,
      authorId: author.id,
      authorName: author.name,
      verdict: review.verdict,
      body: text(review.body),
      position: review.position === null ? null : (context.positions.get(review.position) ?? review.position),
      createdAt: review.createdAt,
      submittedAt: review.submittedAt,
      dismissedAt: review.dismissedAt,
      dismissedBy: dismisser.id,
      dismissedByName: dismisser.name,
      dismissalReason: review.dismissalReason,
    };
  });
  const present = new Set((await tx.manager.findBy(reviewSchema, { issueId })).map(({ id }) => id));
  await insertAll(
    tx,
    reviewSchema,
    rows.filter(({ id }) => !present.has(id)),
  );
  for (const { id, body, dismissedAt, dismissedBy, dismissedByName, dismissalReason } of rows)
    if (present.has(id))
      await tx.manager.update(
        reviewSchema,
        { id },
        { body, dismissedAt, dismissedBy, dismissedByName, dismissalReason },
      );
}

async function writeThreads(tx: Tx, pull: PullFile, context: PullContext): Promise<void> {
  const { issueId, ids, text } = context;
  const present = new Set((await tx.manager.findBy(threadSchema, { issueId })).map(({ id }) => id));
  const rows = pull.threads.map((thread) => {
    const resolver = whoIs(context, thread.resolvedBy);
    const { round, commitOid, path, side, firstLine, lastLine, quoted, createdAt, resolvedAt } = thread;
    return {
      id: ids.threads.get(thread.id)!,
      ...{ issueId, round, commitOid, path, side, firstLine, lastLine, quoted, createdAt, resolvedAt },
      resolvedBy: resolver.id,
      resolvedByName: resolver.name,
    };
  });
  await insertAll(
    tx,
    threadSchema,
    rows.filter(({ id }) => !present.has(id)),
  );
  for (const { id, resolvedAt, resolvedBy, resolvedByName } of rows)
    if (present.has(id)) await tx.manager.update(threadSchema, { id }, { resolvedAt, resolvedBy, resolvedByName });
  const comments = pull.threads.flatMap((thread) =>
    thread.comments.map((comment) => {
      const { id, name } = whoIs(context, comment.author);
      const { position, appliedOid, createdAt, editedAt, origin = null } = comment;
      return {
        threadId: ids.threads.get(thread.id)!,
        ...{ position, appliedOid, createdAt, editedAt, origin },
        reviewId: ids.reviews.get(comment.review)!,
        authorId: id,
        authorName: name,
        body: text(comment.body),
        deletedAt: comment.isDeleted ? tx.now : null,
      };
    }),
  );
  const places = pull.threads.flatMap((thread) =>
    thread.places.map((place) => ({ threadId: ids.threads.get(thread.id)!, ...place })),
  );
  for (const given of comments) {
    const isKnown = context.isFollowed && present.has(given.threadId);
    const comment = isKnown ? { ...given, position: await positionOf(tx, given) } : given;
    const key = { threadId: comment.threadId, position: comment.position };
    if (present.has(comment.threadId) && (await tx.manager.existsBy(reviewCommentSchema, key)))
      await tx.manager.update(reviewCommentSchema, key, comment);
    else await tx.manager.insert(reviewCommentSchema, comment);
  }
  await insertMissing(tx, threadPositionSchema, places, ({ threadId, round }) => ({ threadId, round }), present);
}

/** Position in its thread of a comment from another forge, existing or new. */
async function positionOf(
  { manager }: Tx,
  { threadId, origin }: { threadId: string; origin: string | null },
): Promise<number> {
  const there = await manager.findBy(reviewCommentSchema, { threadId });
  const same = there.find((row) => row.origin === origin);
  return same?.position ?? Math.max(0, ...there.map(({ position }) => position)) + 1;
}

async function writeRequests(tx: Tx, { requests }: PullFile, context: PullContext): Promise<void> {
  const { issueId, people, isFollowed } = context;
  const rows = requests.flatMap(({ person, reason, askedBy, askedAt, answeredAt }) => {
    const userId = people.idOf(person);
    return userId === null ? [] : [{ issueId, userId, reason, askedBy: people.idOf(askedBy), askedAt, answeredAt }];
  });
  if (isFollowed) return followRequests(tx, issueId, rows);
  for (const row of rows) await tx.manager.upsert(reviewRequestSchema, row, ['issueId', 'userId']);
}

/**
 * Adds the requests of the followed forge and removes those that it no longer has. Reviewers who were asked, withdrawn
 * or recorded as code owners here have an entry in the log: their requests stay as they are, as do answers given here.
 */
async function followRequests(tx: Tx, issueId: string, rows: readonly ReviewRequestRow[]): Promise<void> {
  const { manager } = tx;
  const present = await manager.findBy(reviewRequestSchema, { issueId });
  const entries = await manager.findBy(entrySchema, { issueId, kind: 'asked' });
  const decided = new Set(entries.map(({ details }) => (JSON.parse(details) as { userId?: string }).userId));
  const wanted = new Map(rows.map((row) => [row.userId, row]));
  const gone = present.filter(
    ({ userId, reason, answeredAt }) =>
      reason === 'asked' && answeredAt === null && !wanted.has(userId) && !decided.has(userId),
  );
  if (gone.length > 0) {
    const ofGone = { issueId, userId: In(gone.map(({ userId }) => userId)) };
    await manager.delete(reviewRequestSchema, ofGone);
    await manager.delete(attentionSchema, { ...ofGone, reason: 'asked' });
  }
  for (const { userId } of present) wanted.delete(userId);
  const missing = [...wanted.values()].filter(({ userId }) => !decided.has(userId));
  await insertAll(tx, reviewRequestSchema, missing);
}

/** Creates the request of a team if this instance has the team and it has a role in the repository. */
async function writeTeamRequests(
  { repositories }: Pick<PullDeps, 'repositories'>,
  { manager }: Tx,
  { teamRequests }: PullFile,
  { issueId, repositoryId, people }: PullContext,
): Promise<void> {
  if (!people.isOwn) return;
  const ids = teamRequests.flatMap(({ team }) => team.id ?? []);
  const roles = await repositories.teams.withRole(repositoryId, ids, manager);
  for (const { team, reason, askedBy, askedAt, answeredAt } of teamRequests) {
    if (team.id === undefined || !roles.has(team.id)) continue;
    const row = { issueId, teamId: team.id, repositoryId, reason, askedBy: people.idOf(askedBy), askedAt, answeredAt };
    await manager.upsert(teamReviewRequestSchema, row, ['issueId', 'teamId']);
  }
}

async function insertMissing<Row extends { threadId: string }>(
  tx: Tx,
  schema: EntitySchema<Row>,
  rows: readonly Row[],
  key: (row: Row) => FindOptionsWhere<Row>,
  present: ReadonlySet<string>,
): Promise<void> {
  const missing: Row[] = [];
  for (const row of rows)
    if (!present.has(row.threadId) || !(await tx.manager.existsBy(schema, key(row)))) missing.push(row);
  await insertAll(tx, schema, missing);
}

async function insertAll<Row extends object>({ manager }: Tx, schema: EntitySchema<Row>, rows: readonly Row[]) {
  for (let at = 0; at < rows.length; at += rowsPerInsert)
    await manager.insert(schema, rows.slice(at, at + rowsPerInsert) as never);
}
