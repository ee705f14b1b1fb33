import { t, translated } from '../../translation/index.ts';
import { noRef } from '../../kernel/index.ts';
import type { FollowedPerson, FollowedRepository, ListedFollow, ListedPush } from '../../federation/index.ts';
import type { KeptCopy } from '../../copies/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

/** The status of a follow request, as text. */
interface FollowStatusView {
  isAccepted: boolean;
  /** One or two words for the badge. */
  label: string;
  /** The reason why it waits; null once it is accepted. */
  sentence: string | null;
  since: TimeView | null;
  /** Retrying the request may help. */
  mayRetry: boolean;
}

/** Some errors end with a full stop, which is removed inside a sentence. */
const inSentence = (error: string | null): string => (error ?? t('follows.status.no_answer')).replace(/\.$/, '');

export function viewFollowStatus(
  { status, kind }: Pick<FollowedRepository, 'status' | 'kind'>,
  now: number,
): FollowStatusView {
  if (status.state === 'ACCEPTED' && status.goneAt !== null) {
    return {
      isAccepted: false,
      label: t('follows.status.gone'),
      sentence: kind === 'person' ? t('follows.status.gone_user') : t('follows.status.gone_sentence'),
      since: null,
      mayRetry: false,
    };
  }
  if (status.state === 'ACCEPTED') {
    return {
      isAccepted: true,
      label: t('common.following'),
      sentence: null,
      since: viewTime(status.since, now),
      mayRetry: false,
    };
  }
  const waiting = { isAccepted: false, label: t('common.waiting') };
  switch (status.why) {
    case 'queued':
      return { ...waiting, sentence: t('follows.status.queued'), since: null, mayRetry: false };
    case 'waiting':
      return {
        ...waiting,
        sentence: t('follows.status.not_sent_yet', {
          error: inSentence(status.error),
          when: viewTime(status.nextAttemptAt, now).text,
        }),
        since: null,
        mayRetry: true,
      };
    case 'retrying':
      return {
        ...waiting,
        sentence: t('follows.status.retrying', {
          count: status.attempts,
          error: inSentence(status.error),
          when: viewTime(status.nextAttemptAt, now).text,
        }),
        since: null,
        mayRetry: true,
      };
    case 'unanswered':
      return {
        ...waiting,
        sentence: t('follows.status.unanswered'),
        since: viewTime(status.deliveredAt, now),
        mayRetry: true,
      };
    case 'failed':
      return {
        ...waiting,
        label: t('follows.status.failed'),
        sentence: t('follows.status.given_up', { count: status.attempts, error: inSentence(status.error) }),
        since: null,
        mayRetry: true,
      };
  }
}

type CopiesByActor = ReadonlyMap<string, KeptCopy>;

const noCopies: CopiesByActor = new Map();

export function viewFollowedRepository(
  { id, kind, handle, url, status, remoteActorId }: FollowedRepository,
  now: number,
  copies: CopiesByActor = noCopies,
) {
  const copy = copies.get(remoteActorId);
  return {
    id,
    handle,
    url,
    isPerson: kind === 'person',
    status: viewFollowStatus({ status, kind }, now),
    mayKeep: kind === 'repository' && status.state === 'ACCEPTED' && copy === undefined,
    copy: copy === undefined ? null : viewCopy(copy),
  };
}

/** `place` is null while the copy is in the trash. */
function viewCopy({ place, state, error }: KeptCopy) {
  const at = place === null ? null : { name: `${place.owner}/${place.name}`, url: repositoryUrl(place) };
  return { place: at, state: copyStates[state], error };
}

const copyStates: Record<KeptCopy['state'], string> = translated({
  waiting: 'follows.follow_status.waiting_for_its_first_transfer',
  current: 'follows.follow_status.up_to_date',
  unreachable: 'follows.follow_status.origin_unreachable',
  full: 'follows.follow_status.limit_reached',
  ending: 'ends',
  paused: 'paused',
});

export function viewFollowedPerson(
  { id, handle, url, totalItems, scanError, repositories, followedCount: count }: FollowedPerson,
  now: number,
  copies: CopiesByActor = noCopies,
) {
  return {
    id,
    handle,
    url,
    // A snapshot of the first page, so "at least": the other server may have listed only a part (SPEC §3).
    count:
      totalItems === null ? `${count}` : t('follows.status.of_at_least', { count, total: Math.max(totalItems, count) }),
    scanError,
    /** The placeholder of an empty list. */
    nothing:
      count === 0
        ? (totalItems ?? 0) === 0
          ? t('follows.status.none_so_far')
          : t('follows.status.none_followed')
        : t('follows.status.followed_below'),
    repositories: repositories.map((repository) => viewFollowedRepository(repository, now, copies)),
  };
}

/** Any user's follow, for the administrator. */
export function viewListedFollow(follow: ListedFollow, who: string, now: number) {
  const { id, kind, handle, url, createdAt } = follow;
  const rest = { id, kind, handle, url, who, since: viewTime(createdAt, now) };
  if (follow.status !== null) {
    const { sentence, ...status } = viewFollowStatus(follow, now);
    return { ...rest, status, sentence, isTagged: follow.viaUserActorId !== null };
  }
  const count = t('follows.status.repositories_followed', { count: follow.repositories });
  const error =
    follow.scanError === null ? '' : ` ${t('follows.status.scan_failed', { error: inSentence(follow.scanError) })}`;
  return { ...rest, status: null, sentence: `${count}${error}`, isTagged: false };
}

const isCommitId = (hash: string | null): hash is string => hash !== null && !noRef.test(hash);
const short = (hash: string | null): string | null => (hash === null || noRef.test(hash) ? null : hash.slice(0, 10));

export function viewReceivedPush(
  { handle, url, branch, hashBefore, hashAfter, commitCount, commits, isForced, pusher, pushedAt }: ListedPush,
  now: number,
) {
  const isNewBranch = hashBefore !== null && noRef.test(hashBefore);
  const count = t('follows.status.commits', { count: commitCount });
  const says = [
    // A branch from an old commit, or software that does not send commits.
    ...(commitCount === 0 && (isNewBranch || hashAfter === null) ? [] : [count]),
    ...(isNewBranch ? [t('follows.status.new_branch')] : []),
    ...(isForced ? [t('follows.status.forced')] : []),
    ...(pusher === null ? [] : [t('follows.status.by', { name: pusher })]),
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
      summary: summary || t('follows.status.no_message'),
    })),
    when: viewTime(pushedAt, now),
  };
}
