import type { ImportedPerson } from '../../issues/index.ts';
import type { PullFile } from '../../pulls/index.ts';
import { pullLimits } from '../../pulls/index.ts';
import { cleanText } from '../../accounts/index.ts';
import type { ImportDeps } from '../deps.ts';
import type { PeopleBook } from '../context/people-book.ts';
import type { SourceIssue, SourcePull, SourceReview, SourceReviewComment } from '../sources/source.ts';
import { emptyEntry, keepText } from './build-issue.ts';
import type { LogEntry } from './build-issue.ts';

interface PullParts {
  issue: SourceIssue;
  pull: SourcePull;
  reviews: readonly SourceReview[];
  comments: readonly SourceReviewComment[];
}

interface BuiltPull {
  /** Its reviews have no position yet: the log assigns it. */
  file: PullFile;
  /** Entries of its log, with `reviewId` in their details. */
  entries: LogEntry[];
}

type Round = PullFile['rounds'][number];
type Tell = (problem: string) => void;

/**
 * The code of a pull request in the form of the writer. Its rounds are the reviewed commits that git still has, and the
 * head; rounds of an earlier run stay. Null if git has none of the commits any more.
 * @param path of the repository, which has the available objects
 */
export async function buildPull(
  { git, pulls }: Pick<ImportDeps, 'git' | 'pulls'>,
  { issue: given, pull, reviews, comments }: PullParts,
  people: PeopleBook,
  { repositoryId, path, now, tell }: { repositoryId: string; path: string; now: number; tell: Tell },
): Promise<BuiltPull | null> {
  // Its log says so once, about the issue itself.
  const issue = { ...given, createdAt: Math.min(given.createdAt, now), updatedAt: Math.min(given.updatedAt, now) };
  const isThere = async (oid: string | null): Promise<boolean> =>
    oid !== null && (await git.objects.commit(path, oid).catch(() => null)) !== null;
  const submitter = people.of(issue.author);
  const baseTip = (await isThere(pull.baseOid)) ? pull.baseOid : null;
  const rounds: Round[] = (await pulls.portable.rounds(repositoryId, issue.number)).map(
    ({ round, headOid, baseOid, change, note, createdAt }) => ({
      ...{ round, headOid, baseOid, change, note, createdAt },
      submitter,
    }),
  );
  const entries: LogEntry[] = [];
  const add = async (headOid: string, createdAt: number, knownBase: string | null = null): Promise<void> => {
    if (rounds.some((each) => each.headOid === headOid) || rounds.length >= pullLimits.rounds) return;
    const before = rounds.at(-1);
    const mergeBase = baseTip === null ? null : await git.queries.mergeBase(path, baseTip, headOid);
    const baseOid =
      ((await isThere(knownBase)) ? knownBase : null) ??
      mergeBase ??
      baseTip ??
      before?.baseOid ??
      (await git.objects.commit(path, headOid)).parents[0];
    if (baseOid === undefined) return;
    const isAdded =
      before !== undefined && (await git.refs.isForward(path, before.headOid, headOid).catch(() => false));
    const change = before === undefined ? 'first' : isAdded ? 'added' : 'unknown';
    const round = rounds.length + 1;
    rounds.push({ round, headOid, baseOid, change, note: '', submitter, createdAt });
    if (round > 1)
      entries.push({
        ...emptyEntry,
        kind: 'round',
        author: submitter,
        details: { round, change, headOid, baseOid },
        createdAt,
        origin: `round:${headOid}`,
      });
  };
  const inOrder = [...reviews].sort((one, other) => one.submittedAt - other.submittedAt);
  let isFirst = rounds.length === 0;
  const seenRounds =
    pull.rounds ??
    inOrder.map(({ commitOid, submittedAt }) => ({ headOid: commitOid, baseOid: null, createdAt: submittedAt }));
  for (const { headOid, baseOid, createdAt } of seenRounds) {
    if (headOid === null || (pull.rounds === undefined && headOid === pull.headOid)) continue;
    if (!(await isThere(headOid))) continue;
    await add(headOid, isFirst ? issue.createdAt : Math.min(createdAt, now), baseOid);
    isFirst = rounds.length === 0;
  }
  if (await isThere(pull.headOid)) {
    const seen = inOrder.find(({ commitOid }) => commitOid === pull.headOid)?.submittedAt;
    const last = rounds.at(-1)?.createdAt ?? issue.createdAt;
    await add(
      pull.headOid,
      isFirst ? issue.createdAt : Math.max(last, Math.min(seen ?? pull.mergedAt ?? issue.updatedAt, now)),
    );
  } else if (rounds.length > 0) tell('the commits of its head are gone; the rounds before came');
  if (rounds.length === 0) return null;

  const roundOf = (oid: string | null, at: number): Round =>
    rounds.find(({ headOid }) => headOid === oid) ?? rounds.findLast(({ createdAt }) => createdAt <= at) ?? rounds[0]!;
  const built = inOrder.slice(0, pullLimits.threads).map((review): PullFile['reviews'][number] => {
    const { round } = roundOf(review.commitOid, review.submittedAt);
    const at = Math.min(review.submittedAt, now);
    return {
      id: review.id,
      round,
      author: people.of(review.author),
      verdict: review.verdict,
      body: keepText(review.body, tell, `the review ${review.id}`),
      position: null,
      createdAt: at,
      submittedAt: at,
      dismissedAt: review.isDismissed ? at : null,
      dismissedBy: null,
      dismissalReason: null,
    };
  });
  const known = new Map(built.map((review) => [review.id, review]));
  const kept = comments.filter(({ reviewId, id }) => {
    if (known.has(reviewId)) return true;
    tell(`the comment ${id} belongs to no review and was left out`);
    return false;
  });
  const threads = buildThreads(kept, people, { rounds, known, tell, now });
  await quoteCommits(git, path, threads, rounds);
  for (const review of built) {
    const count = kept.filter(({ reviewId }) => reviewId === review.id).length;
    entries.push({
      ...emptyEntry,
      kind: 'review',
      author: review.author,
      body: review.body,
      details: { reviewId: review.id, verdict: review.verdict, round: review.round, comments: count } as never,
      createdAt: review.submittedAt,
      origin: `review:${review.id}`,
    });
  }
  const isMerged = pull.mergedAt !== null;
  const mergedOid = isMerged && (await isThere(pull.mergedOid)) ? pull.mergedOid : null;
  if (isMerged)
    entries.push({
      ...emptyEntry,
      kind: 'merged',
      author: people.of(pull.mergedBy),
      details: {
        oid: mergedOid,
        onto: null,
        style: null,
        base: branchName(pull.baseBranch) ?? 'main',
        round: rounds.at(-1)!.round,
      },
      createdAt: Math.min(pull.mergedAt!, now),
      origin: 'merged',
    });
  const requests = pull.requested.slice(0, pullLimits.requests).flatMap((one) => {
    const person = people.of(one);
    const asked = { askedBy: submitter, askedAt: Math.min(issue.updatedAt, now), answeredAt: null };
    return person === null ? [] : [{ person, reason: 'asked' as const, ...asked }];
  });
  const file: PullFile = {
    format: 1,
    repository: '',
    number: issue.number,
    source: pull.isOwnBranch ? 'BRANCH' : 'FORK',
    baseBranch: branchName(pull.baseBranch) ?? 'main',
    headBranch: pull.headBranch === null ? null : branchName(pull.headBranch),
    isOwnBranch: pull.isOwnBranch,
    topic: null,
    submitter,
    isDraft: pull.isDraft,
    maintainersMayPush: pull.maintainersMayPush,
    stackedOnOid: null,
    mergeStyle: null,
    mergedBy: people.of(pull.mergedBy),
    mergedOid,
    mergedOntoOid: null,
    mergedAt: isMerged ? Math.min(pull.mergedAt!, now) : null,
    rounds,
    reviews: built,
    requests,
    teamRequests: [],
    threads,
  };
  return { file, entries };
}

const branchName = (name: string): string | null => cleanText(name, 255) || null;

/** Comments on one position of a file form a thread, as do comments that reply to one of them. */
function buildThreads(
  comments: readonly SourceReviewComment[],
  people: PeopleBook,
  {
    rounds,
    known,
    tell,
    now,
  }: { rounds: readonly Round[]; known: ReadonlyMap<string, { round: number }>; tell: Tell; now: number },
): PullFile['threads'] {
  const threadOf = new Map<string, string>();
  const byThread = new Map<string, SourceReviewComment[]>();
  for (const comment of [...comments].sort((a, b) => a.createdAt - b.createdAt || compareIds(a.id, b.id))) {
    const { path, side, firstLine, lastLine } = comment;
    const place = comment.thread ?? JSON.stringify([path, side, firstLine, lastLine]);
    const answered = comment.inReplyTo === null ? undefined : threadOf.get(comment.inReplyTo);
    // A reply to a deleted comment begins a thread at its position; this also ends cycles.
    const key = answered ?? (comment.inReplyTo === null ? place : `reply:${comment.inReplyTo}`);
    threadOf.set(comment.id, key);
    byThread.set(key, [...(byThread.get(key) ?? []), comment]);
  }
  let left = pullLimits.comments;
  const threads: PullFile['threads'] = [];
  for (const all of byThread.values()) {
    const own = all.slice(0, Math.min(pullLimits.commentsPerThread, left));
    left -= own.length;
    if (own.length < all.length)
      tell(`${all.length - own.length} comments of a thread at ${all[0]!.path} were left out`);
    const [first] = own;
    if (first === undefined || threads.length >= pullLimits.threads) continue;
    const { round } = known.get(first.reviewId)!;
    const resolved = own.find(({ isResolved }) => isResolved);
    const path = first.path.replaceAll('\0', '').slice(0, 4_096);
    threads.push({
      id: first.id,
      round,
      commitOid: rounds[round - 1]!.headOid,
      path,
      side: first.side,
      firstLine: first.firstLine,
      lastLine: first.lastLine,
      quoted: quotedLines(first),
      createdAt: Math.min(first.createdAt, now),
      resolvedAt: resolved === undefined ? null : Math.min(resolved.updatedAt, now),
      resolvedBy: resolved === undefined ? null : people.of(resolved.resolvedBy),
      comments: own.map((comment, at) => ({
        position: at + 1,
        origin: `comment:${comment.id}`,
        review: comment.reviewId,
        author: people.of(comment.author) as ImportedPerson | null,
        body: keepText(comment.body, tell, `the comment ${comment.id}`),
        appliedOid: null,
        createdAt: Math.min(comment.createdAt, now),
        editedAt: comment.updatedAt > comment.createdAt ? Math.min(comment.updatedAt, now) : null,
        isDeleted: false,
      })),
      places: [],
    });
  }
  return threads;
}

/** The lines of threads without lines from the source, read from the commits of their rounds. */
async function quoteCommits(
  { objects }: ImportDeps['git'],
  path: string,
  threads: PullFile['threads'],
  rounds: readonly Round[],
): Promise<void> {
  const files = new Map<string, string[]>();
  for (const thread of threads) {
    const { firstLine, lastLine, round, side } = thread;
    const file = thread.path;
    if (thread.quoted !== '' || file === null || firstLine === null || lastLine === null) continue;
    const { headOid, baseOid } = rounds[round - 1]!;
    const commit = side === 'NEW' ? headOid : (baseOid ?? headOid);
    const key = `${commit} ${file}`;
    if (!files.has(key)) {
      const content = await objects
        .entryAt(path, commit, file)
        .then(({ oid }) => objects.blob(path, oid, { maxBytes: pullLimits.commentedFileBytes }))
        .then((blob) => blob.content?.toString('utf8') ?? '')
        // A comment on an absent file has no lines.
        .catch(() => '');
      if (files.size > 20) files.clear();
      files.set(key, content.includes('\0') ? [] : content.split('\n'));
    }
    thread.quoted = files
      .get(key)!
      .slice(firstLine - 1, lastLine)
      .join('\n')
      .slice(0, 16_000)
      .toWellFormed();
  }
}

/** Ids are increasing numbers, whether or not they have the same length. */
const compareIds = (one: string, other: string): number =>
  one.length - other.length || (one < other ? -1 : one > other ? 1 : 0);

/** The lines of a comment: the last ones of the hunk that the source shows with it. */
function quotedLines({ hunk, side, firstLine, lastLine }: SourceReviewComment): string {
  if (firstLine === null || lastLine === null) return '';
  const other = side === 'NEW' ? '-' : '+';
  const lines = hunk.split('\n').filter((line) => !line.startsWith('@@') && !line.startsWith(other));
  return lines
    .slice(-(lastLine - firstLine + 1))
    .map((line) => line.slice(1))
    .join('\n')
    .slice(0, 16_000)
    .toWellFormed();
}

/** The users that the code of a pull request references. */
export const peopleOfPull = ({ pull, reviews, comments }: Omit<PullParts, 'issue'>) => [
  pull.mergedBy,
  ...pull.requested,
  ...reviews.map(({ author }) => author),
  ...comments.flatMap(({ author, resolvedBy }) => [author, resolvedBy]),
];
