import type { Modules } from './modules.ts';

/**
 * Plugs the ports together: what a module does when another one tells of something. Listeners are called in this order.
 */
export function connectPorts({
  accounts,
  avatars,
  ci,
  federation,
  issues,
  lfs,
  mirrors,
  notifications,
  organisations,
  pulls,
  releases,
  repositories,
  signing,
  webhooks,
}: Modules): void {
  accounts.onSignUp(organisations.joinInvited);
  organisations.owning(repositories.ownedRepositories);
  repositories.rules.verifyCommitsWith((objects, client) => signing.verify(objects, client));
  accounts.onAccountDeletion(async (tx, personId) => {
    await organisations.refuseOnlyOwner(tx, personId);
    await repositories.refuseOwner(tx, personId);
    await avatars.forget(tx, personId);
    const emptyTrash = await repositories.ownedRepositories.detachTrash(tx, personId);
    return async () => {
      await emptyTrash();
      await avatars.remove(personId);
    };
  });
  // The first listener of a push: a runner may be waiting for its jobs.
  repositories.pushes.onPush(ci.onPush);
  repositories.forks.copyWith(lfs.copyPort);
  repositories.pushes.remarkWith(lfs.remarkOnMissing);
  repositories.pushes.forRefs(pulls.pushesFor);
  repositories.statuses.onChange(pulls.onStatus);
  repositories.pushes.onPush(pulls.onPush);
  repositories.pushes.onPush(issues.onPush);
  repositories.pushes.onPush(releases.onPush);
  repositories.pushes.onPush(webhooks.onPush);
  repositories.forks.onFork(webhooks.onFork);
  issues.onEntry(pulls.onEntry);
  issues.onEntry(webhooks.onEntry);
  ci.onRunEnd(webhooks.onRunEnd);
  issues.onEntry(ci.onPull({ issues, pulls }));
  issues.onEntry(ci.onIssue({ issues }));
  ci.onRunEnd(pulls.queue.onRunEnd);
  issues.onEntry(notifications.onEntry);
  ci.onRunEnd(notifications.onRunEnd);
  releases.onEvent(ci.onRelease);
  releases.onEvent(webhooks.onRelease);
  releases.onEvent(notifications.onRelease);
  repositories.pushes.refuse(mirrors.guard);
  repositories.pushes.onPush(mirrors.onPush);
  accounts.onAccountDeletion(async (tx, personId) => {
    await federation.endAllFollows(tx, personId);
    return async () => {};
  });
}
