import { formatNumber } from '../../translation/index.ts';
import type {
  FollowedPerson,
  FollowedRepository,
  ListedFollow,
  ListedPush,
  FollowStatus,
} from '../../federation/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

/** The status of a follow request, as text. */
export interface FollowStatusView {
  isAccepted: boolean;
  /** One or two words for the badge. */
  label: string;
  /** Why it waits; null once it is accepted. */
  sentence: string | null;
  since: TimeView | null;
  /** Sending the request again may help. */
  mayRetry: boolean;
}

/** Errors come with and without a full stop; here they are inside a sentence. */
const inSentence = (error: string | null): string => (error ?? 'no answer').replace(/\.$/, '');

const acceptedByServer = 'The other server took it and has not answered yet.';

export function viewFollowStatus(status: FollowStatus, now: number): FollowStatusView {
  if (status.state === 'ACCEPTED' && status.goneAt !== null) {
    return {
      isAccepted: false,
      label: 'Not there',
      sentence: 'Its server says that there is no such public repository: it was deleted, or made private.',
      since: null,
      mayRetry: false,
    };
  }
  if (status.state === 'ACCEPTED') {
    return {
      isAccepted: true,
      label: 'Following',
      sentence: null,
      since: viewTime(status.since, now),
      mayRetry: false,
    };
  }
  const waiting = { isAccepted: false, label: 'Waiting' };
  const tries = (attempts: number): string => (attempts === 1 ? 'once' : `${attempts} times`);
  switch (status.why) {
    case 'queued':
      return { ...waiting, sentence: 'The request goes out within seconds.', since: null, mayRetry: false };
    case 'waiting':
      return {
        ...waiting,
        sentence: `Not sent yet: ${inSentence(status.error)}. It is tried ${viewTime(status.nextAttemptAt, now).text}.`,
        since: null,
        mayRetry: true,
      };
    case 'retrying':
      return {
        ...waiting,
        sentence: `Tried ${tries(status.attempts)}: ${inSentence(status.error)}. It is tried again ${viewTime(status.nextAttemptAt, now).text}.`,
        since: null,
        mayRetry: true,
      };
    case 'unanswered':
      return { ...waiting, sentence: acceptedByServer, since: viewTime(status.deliveredAt, now), mayRetry: true };
    case 'failed':
      return {
        ...waiting,
        label: 'Not delivered',
        sentence: `Given up after trying ${tries(status.attempts)}: ${inSentence(status.error)}.`,
        since: null,
        mayRetry: true,
      };
  }
}

export function viewFollowedRepository({ id, handle, url, status }: FollowedRepository, now: number) {
  return { id, handle, url, status: viewFollowStatus(status, now) };
}

export function viewFollowedPerson(
  { id, handle, url, totalItems, scanError, repositories, followedCount: count }: FollowedPerson,
  now: number,
) {
  return {
    id,
    handle,
    url,
    // A snapshot of the first page, so "at least": there may be more than the other server listed (SPEC §3).
    count: totalItems === null ? `${count}` : `${count} of at least ${Math.max(totalItems, count)}`,
    scanError,
    /** The placeholder of an empty list. */
    nothing:
      count === 0
        ? (totalItems ?? 0) === 0
          ? 'No public repositories so far. New ones are followed when they appear.'
          : 'None of their repositories is followed at present. New ones are followed when they appear.'
        : 'Their repositories are followed for themselves, below. New ones are followed when they appear.',
    repositories: repositories.map((repository) => viewFollowedRepository(repository, now)),
  };
}

/** A follow of anyone's, as the administrator sees it. */
export function viewListedFollow(follow: ListedFollow, who: string, now: number) {
  const { id, kind, handle, url, createdAt } = follow;
  const rest = { id, kind, handle, url, who, since: viewTime(createdAt, now) };
  if (follow.kind === 'repository') {
    const { sentence, ...status } = viewFollowStatus(follow.status, now);
    return { ...rest, status, sentence, isTagged: follow.viaUserActorId !== null };
  }
  const count = follow.repositories === 1 ? 'one repository' : `${follow.repositories} repositories`;
  const error = follow.scanError === null ? '' : ` Looking for new ones did not work: ${inSentence(follow.scanError)}.`;
  return { ...rest, status: null, sentence: `Through them, ${count}.${error}`, isTagged: false };
}

const isCommitId = (hash: string | null): hash is string => hash !== null && !/^0+$/.test(hash);
const short = (hash: string | null): string | null => (hash === null || /^0+$/.test(hash) ? null : hash.slice(0, 10));

export function viewReceivedPush(
  { handle, url, branch, hashBefore, hashAfter, commitCount, commits, isForced, pusher, pushedAt }: ListedPush,
  now: number,
) {
  const isNewBranch = hashBefore !== null && /^0+$/.test(hashBefore);
  const count = commitCount === 1 ? '1 commit' : `${formatNumber(commitCount)} commits`;
  const says = [
    // A branch from an old commit, or software that says nothing of commits.
    ...(commitCount === 0 && (isNewBranch || hashAfter === null) ? [] : [count]),
    ...(isNewBranch ? ['new branch'] : []),
    ...(isForced ? ['forced'] : []),
    ...(pusher === null ? [] : [`by ${pusher}`]),
  ];
  const newest = commits.find(({ hash }) => hash === hashAfter);
  return {
    handle,
    url,
    branch,
    before: short(hashBefore),
    after: short(hashAfter),
    afterUrl: isCommitId(hashAfter) ? (newest?.url ?? null) : null,
    says: says.join(', '),
    commits: commits.map(({ hash, summary, url: page }) => ({
      hash: hash.slice(0, 10),
      url: page ?? null,
      summary: summary || 'no message',
    })),
    when: viewTime(pushedAt, now),
  };
}
