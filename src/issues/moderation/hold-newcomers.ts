import { isExemptFromRates, isTrustedContributor, personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import type { RepositoryContext } from '../issue-context.ts';
import { contributorSchema, heldContributionSchema } from '../schema/moderation-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/**
 * Whether to hold a contribution for approval: if the repository requires it, for the first contributions of a user who
 * is neither member nor known here. Records first-time contributors.
 */
export async function holdsContribution(
  { manager, now }: Tx,
  viewer: Viewer,
  { repository, facts, settings }: RepositoryContext,
): Promise<boolean> {
  const userId = personIdOf(viewer);
  if (userId === null) return false;
  const known = await manager.findOneBy(contributorSchema, { repositoryId: repository.id, userId });
  const isHeld = settings.holdsNewcomers && !isTrustedContributor(viewer, facts) && known?.admittedAt == null;
  if (known === null)
    await manager.insert(contributorSchema, {
      repositoryId: repository.id,
      userId,
      firstAt: now,
      admittedAt: isHeld ? null : now,
    });
  else if (known.admittedAt === null && !isHeld)
    await manager.update(contributorSchema, { repositoryId: repository.id, userId }, { admittedAt: now });
  return isHeld;
}

/**
 * Counts a contribution; those of members only against their own limit, those of administrators and users with write
 * access against none. Throws `too_many_contributions`.
 */
export function chargeRateLimit(
  deps: Pick<IssueDeps, 'rates'>,
  viewer: Viewer,
  { repository, facts }: RepositoryContext,
): void {
  if (isExemptFromRates(viewer, facts)) return;
  deps.rates.charge(personIdOf(viewer), isTrustedContributor(viewer, facts) ? null : repository.id);
}

/** Records that an entry is held. */
export async function recordHeld({ tx }: EntryLog, issue: Issue, position: number, viewer: Viewer): Promise<void> {
  await tx.manager.insert(heldContributionSchema, {
    issueId: issue.id,
    position,
    repositoryId: issue.repositoryId,
    userId: personIdOf(viewer)!,
    heldAt: tx.now,
  });
}
