import type { AccountDeletionHook } from '../accounts/index.ts';
import type { Modules } from './modules.ts';

/**
 * The listeners of every event, in the order in which they are called. Modules do not subscribe by themselves: this
 * file lists all listeners.
 */
export function listenersOf(modules: Modules) {
  const { ci, codeSearch, federation, issues, mirrors, notices, notifications } = modules;
  const { organisations, pulls, releases, repositories, webhooks } = modules;
  return {
    push: [
      repositories.pushes.preserveOverwrittenTips, // before anything that may repack
      ci.onPush, // a runner may be waiting for its jobs
      pulls.onPush, // the user who pushed usually opens the pull request next
      issues.onPush,
      releases.onPush,
      webhooks.onPush,
      mirrors.onPush,
      ...(federation.onPush === null ? [] : [federation.onPush]),
      codeSearch.onPush,
    ],
    /** Entries in the logs of issues and pull requests. */
    entry: [
      pulls.onEntry, // review requests and code owners: the listeners below report both
      webhooks.onEntry,
      ci.onPull({ issues, pulls }),
      ci.onIssue({ issues }),
      notifications.onEntry,
      ...(federation.onEntry === null ? [] : [federation.onEntry]),
    ],
    runEnd: [webhooks.onRunEnd, pulls.queue.onRunEnd, notifications.onRunEnd],
    deployment: [webhooks.onDeployment],
    deploymentReview: [notifications.onDeploymentReview],
    release: [
      ci.onRelease,
      webhooks.onRelease,
      notifications.onRelease,
      ...(federation.onRelease === null ? [] : [federation.onRelease]),
    ],
    package: [webhooks.onPackage],
    commitStatus: [pulls.onStatus],
    recordedStatus: [webhooks.onStatus],
    fork: [webhooks.onFork],
    /** Repositories that are created or deleted. */
    lifecycle: [webhooks.onLifecycle],
    defaultBranch: [ci.onDefaultBranch],
    wiki: [webhooks.onWiki],
    restoreFromTrash: [pulls.onRestore],
    signUp: [organisations.joinInvited],
    securityEvent: [
      ...(notices.onSecurityEvent === null ? [] : [notices.onSecurityEvent]),
      notifications.onAccessGiven,
    ],
    accountDeletion: [refuseOwners(modules), endFollows(modules)],
  };
}

/** Registers the listeners; before the start, so that they receive the events of an earlier run. */
export function subscribe(modules: Modules): void {
  const { accounts, ci, issues, packages, releases, repositories } = modules;
  const listeners = listenersOf(modules);
  for (const listener of listeners.push) repositories.pushes.onPush(listener);
  for (const listener of listeners.entry) issues.onEntry(listener);
  for (const listener of listeners.runEnd) ci.onRunEnd(listener);
  for (const listener of listeners.deployment) ci.onDeployment(listener);
  for (const listener of listeners.deploymentReview) ci.onReviewRequest(listener);
  for (const listener of listeners.release) releases.onEvent(listener);
  for (const listener of listeners.package) packages.onEvent(listener);
  for (const listener of listeners.commitStatus) repositories.statuses.onChange(listener);
  for (const listener of listeners.recordedStatus) repositories.statuses.onRecord(listener);
  for (const listener of listeners.fork) repositories.forks.onFork(listener);
  for (const listener of listeners.lifecycle) repositories.onLifecycle(listener);
  for (const listener of listeners.defaultBranch) repositories.onDefaultBranch(listener);
  for (const listener of listeners.wiki) repositories.wikis.onChange(listener);
  for (const listener of listeners.restoreFromTrash) repositories.trash.onRestore(listener);
  for (const listener of listeners.signUp) accounts.onSignUp(listener);
  for (const listener of listeners.securityEvent) accounts.onSecurityEvent(listener);
  for (const listener of listeners.accountDeletion) accounts.onAccountDeletion(listener);
}

/**
 * Renders the texts of issues when any transport writes them, and the texts of mails, so that the first reader does not
 * wait.
 */
export function subscribeRenderers(
  modules: Modules,
  { prerenderText, renderForMail }: Pick<typeof import('../pages/index.ts'), 'prerenderText' | 'renderForMail'>,
): void {
  modules.issues.onText((text) => prerenderText(modules, text));
  modules.notifications.renderMarkdownBy((text) => renderForMail(modules, text));
}

/**
 * Refuses to delete the last owner of an organisation and owners of repositories and packages, and removes the avatar.
 */
function refuseOwners({ avatars, organisations, packages, repositories }: Modules): AccountDeletionHook {
  return async (tx, personId) => {
    await organisations.refuseOnlyOwner(tx, personId);
    await repositories.refuseOwner(tx, personId);
    await packages.releaseOwner(tx, personId);
    await avatars.forget(tx, personId);
    const emptyTrash = await repositories.ownedRepositories.detachTrash(tx, personId);
    return async () => {
      await emptyTrash();
      await avatars.remove(personId);
    };
  };
}

/** Notifies other servers that the follows of a deleted account have ended. */
function endFollows({ federation }: Modules): AccountDeletionHook {
  return async (tx, personId) => {
    await federation.endAllFollows(tx, personId);
    return async () => {};
  };
}
