import type { Modules } from './modules.ts';

/**
 * Connects the ports of lower modules to the modules that implement them. Event listeners are in `subscriptions.ts`.
 */
export function connectPorts(modules: Modules): void {
  const { accounts, ci, copies, imports, issues, lfs, mirrors, oauth, organisations, packages, pulls } = modules;
  const { repositories, signing } = modules;
  accounts.takeApplicationTokens(oauth.tokens);
  organisations.setOwnedRepositories({
    namesOf: repositories.ownedRepositories.namesOf,
    async detachTrash(tx, organisationId) {
      await packages.releaseOwner(tx, organisationId);
      return repositories.ownedRepositories.detachTrash(tx, organisationId);
    },
  });
  repositories.rules.verifyCommitsWith((objects, client) => signing.verify(objects, client));
  repositories.forks.copyWith(lfs.copyPort);
  repositories.pushes.addPostReceiveOutput(lfs.remarkOnMissing);
  repositories.pushes.onReviewPush(pulls.pushesFor);
  repositories.pushes.refuse(mirrors.guard);
  mirrors.copies.limitBy(copies.allowanceOf);
  issues.pulls.refuseReopen(pulls.refuseDuplicate);
  pulls.queue.setCandidateTests(ci.pulls.candidateTests);
  pulls.followedBy(imports.isFollowing);
}
