import { In } from 'typeorm';
import { iso, isoOrNull, issueSchema, maxLogFileBytes } from '../../issues/index.ts';
import type { ExportedFile, FoundIssue, PortablePerson } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { reviewCommentSchema, reviewSchema, threadPositionSchema, threadSchema } from '../schema/review-schema.ts';
import type { ThreadRow } from '../schema/review-schema.ts';
import { roundSchema } from '../schema/round-schema.ts';
import { reviewRequestSchema, teamReviewRequestSchema } from '../schema/attention-schema.ts';
import { reviewsFolder, roundRefs } from './portable-names.ts';

/** The pull requests of a repository to be exported. */
interface PlannedPulls {
  numbers: ReadonlySet<number>;
  /** Refs that keep the commits of their rounds in the bundle, by full name. */
  refs: ReadonlyMap<string, string>;
  /** Number of omitted pull requests: they are held for moderation, or commits of their rounds are missing. */
  leftOut: number;
}

type Issue = Omit<FoundIssue, 'labels' | 'assignees' | 'position'>;

const pullsPerPage = 100;
const threadsPerPage = 100;

/** Plans an export, and checks that the commits of the rounds exist. @param path folder of the repository */
export async function planExport(deps: PullDeps, repositoryId: string, path: string): Promise<PlannedPulls> {
  const numbers = new Set<number>();
  const refs = new Map<string, string>();
  let leftOut = 0;
  for await (const issue of pullsOf(deps, repositoryId)) {
    const own = new Map<string, string>();
    const rounds = await deps.db.read.findBy(roundSchema, { issueId: issue.id });
    for (const row of rounds) for (const [name, oid] of roundRefs(issue.number, row)) own.set(name, oid);
    const isWhole = rounds.length > 0 && issue.heldAt === null && (await areThere(deps, path, own.values()));
    if (!isWhole) {
      leftOut += 1;
      continue;
    }
    numbers.add(issue.number);
    for (const [name, oid] of own) refs.set(name, oid);
  }
  return { numbers, refs, leftOut };
}

async function areThere({ git }: PullDeps, path: string, oids: Iterable<string>): Promise<boolean> {
  for (const oid of new Set(oids)) if ((await git.objects.commit(path, oid).catch(() => null)) === null) return false;
  return true;
}

/** The code of the planned pull requests as files of an export: rounds, reviews, requests and threads. */
export async function* exportPulls(
  deps: PullDeps,
  repositoryId: string,
  { numbers }: PlannedPulls,
): AsyncGenerator<ExportedFile> {
  for await (const issue of pullsOf(deps, repositoryId)) {
    const pull = numbers.has(issue.number) ? await deps.db.read.findOneBy(pullSchema, { issueId: issue.id }) : null;
    if (pull !== null) yield* filesOf(deps, issue, pull);
  }
}

async function* pullsOf({ db }: PullDeps, repositoryId: string): AsyncGenerator<Issue> {
  for (let after = 0; ; ) {
    const rows = await db.read
      .createQueryBuilder(issueSchema, 'i')
      .where('i.repository_id = :repositoryId AND i.number > :after', { repositoryId, after })
      .orderBy('i.number')
      .limit(pullsPerPage)
      .getMany();
    yield* rows.filter(({ kind, deletedAt }) => kind === 'PULL' && deletedAt === null);
    if (rows.length < pullsPerPage) return;
    after = rows.at(-1)!.number;
  }
}

async function* filesOf(deps: PullDeps, issue: Issue, pull: PullRow): AsyncGenerator<ExportedFile> {
  const threads = threadsOf(deps, issue.id)[Symbol.asyncIterator]();
  let next = await threads.next();
  const same = { format: 1, repository: issue.repositoryId, number: issue.number };
  const head = await headOf(deps, issue, pull);
  for (let part = 1; ; part += 1) {
    const text = async function* (): AsyncGenerator<string> {
      yield `${JSON.stringify(part === 1 ? { ...same, ...head } : { ...same, part }, null, 1).slice(0, -2)},\n "threads": [`;
      let bytes = 0;
      for (let separator = '\n'; next.done !== true && bytes < maxLogFileBytes; separator = ',\n') {
        const line = `${separator}${JSON.stringify(next.value)}`;
        bytes += Buffer.byteLength(line);
        yield line;
        next = await threads.next();
      }
      yield '\n]';
    };
    const name = `${reviewsFolder}/${issue.number}${part === 1 ? '' : `-${part}`}.json`;
    yield { name, size: null, content: deps.issues.portable.sealed(text()) };
    if (next.done === true) return;
  }
}

async function headOf(deps: PullDeps, { id: issueId }: Issue, pull: PullRow) {
  const { read } = deps.db;
  const [rounds, reviews, requests, teamRequests] = await Promise.all([
    read.findBy(roundSchema, { issueId }),
    read.findBy(reviewSchema, { issueId }),
    read.findBy(reviewRequestSchema, { issueId }),
    read.findBy(teamReviewRequestSchema, { issueId }),
  ]);
  const teams = await deps.organisations.teams.byId(teamRequests.map(({ teamId }) => teamId));
  // Only its author can see a draft.
  const submitted = reviews.filter(({ submittedAt }) => submittedAt !== null);
  const people = deps.issues.portable.people(true);
  await people.read([
    pull.submitterId,
    pull.mergedBy,
    ...rounds.map(({ submitterId }) => submitterId),
    ...submitted.flatMap(({ authorId, dismissedBy }) => [authorId, dismissedBy]),
    ...requests.flatMap(({ userId, askedBy }) => [userId, askedBy]),
    ...teamRequests.map(({ askedBy }) => askedBy),
  ]);
  const who = (id: string | null, name: string | null): PortablePerson | null =>
    people.of(id) ?? (name === null ? null : { name });
  return {
    source: pull.source,
    baseBranch: pull.baseBranch,
    headBranch: pull.headBranch,
    isOwnBranch: pull.headRepositoryId === pull.repositoryId,
    topic: pull.topic,
    submitter: who(pull.submitterId, pull.submitterName),
    isDraft: pull.isDraft,
    maintainersMayPush: pull.maintainersMayPush,
    stackedOnOid: pull.stackedOnOid,
    mergeStyle: pull.mergeStyle,
    mergedBy: who(pull.mergedBy, pull.mergedByName),
    mergedOid: pull.mergedOid,
    mergedOntoOid: pull.mergedOntoOid,
    mergedAt: isoOrNull(pull.mergedAt),
    rounds: rounds
      .sort((a, b) => a.round - b.round)
      .map(({ round, headOid, baseOid, change, note, submitterId, submitterName, createdAt }) => ({
        ...{ round, headOid, baseOid, change, note },
        submitter: who(submitterId, submitterName),
        createdAt: iso(createdAt),
      })),
    reviews: submitted
      .sort((a, b) => (a.position ?? 0) - (b.position ?? 0) || a.submittedAt! - b.submittedAt!)
      .map(({ id, round, verdict, body, position, dismissalReason, ...review }) => ({
        id,
        round,
        author: who(review.authorId, review.authorName),
        ...{ verdict, body, position },
        createdAt: iso(review.createdAt),
        submittedAt: iso(review.submittedAt!),
        dismissedAt: isoOrNull(review.dismissedAt),
        dismissedBy: who(review.dismissedBy, review.dismissedByName),
        dismissalReason,
      })),
    requests: requests
      .sort((a, b) => a.askedAt - b.askedAt || (a.userId < b.userId ? -1 : 1))
      .flatMap(({ userId, reason, askedBy, askedAt, answeredAt }) => {
        const person = people.of(userId);
        if (person === null) return [];
        return [
          { person, reason, askedBy: people.of(askedBy), askedAt: iso(askedAt), answeredAt: isoOrNull(answeredAt) },
        ];
      }),
    teamRequests: teamRequests
      .sort((a, b) => a.askedAt - b.askedAt || (a.teamId < b.teamId ? -1 : 1))
      .flatMap(({ teamId: id, reason, askedBy, askedAt, answeredAt }) => {
        const found = teams.get(id);
        if (found === undefined) return [];
        const team = { name: `${found.organisation.name}/${found.team.name}`, id };
        return [
          { team, reason, askedBy: people.of(askedBy), askedAt: iso(askedAt), answeredAt: isoOrNull(answeredAt) },
        ];
      }),
  };
}

async function* threadsOf(deps: PullDeps, issueId: string): AsyncGenerator<object> {
  const threads = (await deps.db.read.findBy(threadSchema, { issueId })).sort(
    (a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
  );
  const drafts = new Set(
    (await deps.db.read.findBy(reviewSchema, { issueId })).flatMap(({ id, submittedAt }) =>
      submittedAt === null ? [id] : [],
    ),
  );
  for (let at = 0; at < threads.length; at += threadsPerPage)
    yield* await readThreads(deps, threads.slice(at, at + threadsPerPage), drafts);
}

async function readThreads(deps: PullDeps, threads: readonly ThreadRow[], drafts: ReadonlySet<string>) {
  const threadId = In(threads.map(({ id }) => id));
  const [comments, places] = await Promise.all([
    deps.db.read.findBy(reviewCommentSchema, { threadId }),
    deps.db.read.findBy(threadPositionSchema, { threadId }),
  ]);
  const seen = comments.filter(({ reviewId }) => !drafts.has(reviewId)).sort((a, b) => a.position - b.position);
  const people = deps.issues.portable.people(true);
  await people.read([...threads.map(({ resolvedBy }) => resolvedBy), ...seen.map(({ authorId }) => authorId)]);
  const who = (id: string | null, name: string | null): PortablePerson | null =>
    people.of(id) ?? (name === null ? null : { name });
  return threads.flatMap(({ issueId: _, resolvedAt, resolvedBy, resolvedByName, createdAt, ...thread }) => {
    const own = seen.filter((comment) => comment.threadId === thread.id);
    if (own.length === 0) return [];
    return [
      {
        ...thread,
        createdAt: iso(createdAt),
        resolvedAt: isoOrNull(resolvedAt),
        resolvedBy: who(resolvedBy, resolvedByName),
        comments: own.map(({ position, reviewId, authorId, authorName, body, appliedOid, ...comment }) => ({
          position,
          review: reviewId,
          author: who(authorId, authorName),
          body: comment.deletedAt === null ? body : '',
          appliedOid,
          createdAt: iso(comment.createdAt),
          editedAt: isoOrNull(comment.editedAt),
          isDeleted: comment.deletedAt !== null,
        })),
        places: places
          .filter((place) => place.threadId === thread.id)
          .sort((a, b) => a.round - b.round)
          .map(({ round, state, path, firstLine, lastLine }) => ({ round, state, path, firstLine, lastLine })),
      },
    ];
  });
}
