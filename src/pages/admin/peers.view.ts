import type { ListedDelivery, ListedPeer } from '../../federation/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewTime } from '../app/times.view.ts';

const allowedWords = translated({
  settings: 'admin.peers.by_the_settings',
  pairing: 'admin.peers.by_pairing',
  followers: 'admin.peers.followers_only',
  no: 'admin.peers.not_allowed',
  blocked: 'blocked',
} as const);

/** Maximum number of unnamed servers with followers on one page: those with the most. */
const shownOpen = 50;

/** All peers that an administrator has configured, and some other servers with followers. */
export function choosePeers(peers: readonly ListedPeer[]): { shown: ListedPeer[]; left: number } {
  const open = peers.filter(({ allowed }) => allowed === 'followers').sort((a, b) => b.followers - a.followers);
  const chosen = new Set(open.slice(0, shownOpen));
  return {
    shown: peers.filter((peer) => peer.allowed !== 'followers' || chosen.has(peer)),
    left: Math.max(0, open.length - shownOpen),
  };
}

export function viewPeer(peer: ListedPeer, now: number) {
  const { host, allowed, askedAt, lastSuccessAt, lastErrorAt, lastError, failures, queued, failed, retryAt, goneAt } =
    peer;
  return {
    host,
    isAllowed: allowed !== 'no' && allowed !== 'blocked',
    isPaired: allowed === 'pairing',
    allowed: allowedWords[allowed],
    requestedAt: askedAt === null ? null : viewTime(askedAt, now),
    success: lastSuccessAt === null ? null : viewTime(lastSuccessAt, now),
    error: lastError === null || lastErrorAt === null ? null : { text: lastError, at: viewTime(lastErrorAt, now) },
    // An error that precedes a success is history, not a state.
    isFailing: failures > 0 || (lastErrorAt ?? 0) > (lastSuccessAt ?? 0),
    gone:
      goneAt === null
        ? null
        : { since: viewTime(peer.silentSince ?? goneAt, now), followers: viewFollowers(peer.followers) },
    retry: retryAt === null ? null : viewTime(retryAt, now),
    followers: peer.followers,
    software: peer.software,
    reads: peer.reads === 'note' ? 'notes' : 'pushes',
    queued,
    failed,
  };
}

/** Null without followers. */
const viewFollowers = (count: number): string | null =>
  count === 0
    ? null
    : count === 1
      ? t('admin.peers.its_follower_is_kept')
      : t('admin.peers.its_count_followers_are_kept', { count });

const stateWords = translated({
  PENDING: 'admin.peers.queued',
  DELIVERED: 'admin.peers.delivered',
  FAILED: 'admin.peers.failed',
});

export function viewDelivery(
  { id, type, host, state, attempts, lastError, nextAttemptAt, createdAt, cancelledAt, repositoryId }: ListedDelivery,
  now: number,
  names: ReadonlyMap<string, string>,
) {
  return {
    id,
    type,
    host,
    repository: repositoryId === null ? null : (names.get(repositoryId) ?? t('admin.peers.a_repository_in_the_trash')),
    isWaiting: state === 'PENDING',
    // Cancelled deliveries are also FAILED, although no error occurred.
    hasFailed: state === 'FAILED' && cancelledAt === null,
    isDone: state === 'DELIVERED',
    label: cancelledAt === null ? stateWords[state] : t('admin.peers.not_sent'),
    attempts: t('admin.peers.tries', { count: attempts }),
    error: lastError,
    next: state === 'PENDING' && nextAttemptAt > now ? viewTime(nextAttemptAt, now) : null,
    created: viewTime(createdAt, now),
  };
}
