import { isExemptFromRates, isTrustedContributor, personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import type { RepositoryContext } from '../issue-context.ts';
import { contributorSchema, heldContributionSchema } from '../schema/moderation-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/**
 * Whether a contribution waits for a member: where the repository wants it, the first contributions of a user who is
 * neither member nor known here. Notes who contributes for the first time.
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
 * Counts a contribution; those of members only against their own limit, and those of people who may write and of
 * administrators against none. Refuses `too_many_contributions`.
 */
export function chargeRateLimit(
  deps: Pick<IssueDeps, 'rates'>,
  viewer: Viewer,
  { repository, facts }: RepositoryContext,
): void {
  if (isExemptFromRates(viewer, facts)) return;
  deps.rates.charge(personIdOf(viewer), isTrustedContributor(viewer, facts) ? null : repository.id);
}

/** Notes that an entry waits for a member. */
export async function recordHeld({ tx }: EntryLog, issue: Issue, position: number, viewer: Viewer): Promise<void> {
  await tx.manager.insert(heldContributionSchema, {
    issueId: issue.id,
    position,
    repositoryId: issue.repositoryId,
    userId: personIdOf(viewer)!,
    heldAt: tx.now,
  });
}
