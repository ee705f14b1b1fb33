import { In } from 'typeorm';
import { isFollowed, issueSchema } from '../../issues/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { AnnouncedPush } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/*
 * Rounds, merges and states of pull requests that an import follows come from the other forge. Its branches arrive
 * first: a round recorded for their move would be one that the forge does not have, and a merged pull request would
 * get commits from after its merge. Pushes by users here count as for any other pull request, and once the import has
 * ended, so does everything.
 */

const idsPerQuery = 500;

/** The pull requests whose rounds and state change with this push: for one by an import, those made here. */
export async function changedBy(
  { db, isFollowing }: PullDeps,
  push: AnnouncedPush,
  pulls: readonly PullRow[],
): Promise<PullRow[]> {
  if (push.via !== 'mirror' || pulls.length === 0 || !(await isFollowing(push.repository.id))) return [...pulls];
  const followed = new Set<string>();
  for (let at = 0; at < pulls.length; at += idsPerQuery) {
    const id = In(pulls.slice(at, at + idsPerQuery).map(({ issueId }) => issueId));
    for (const issue of await db.read.findBy(issueSchema, { id })) if (isFollowed(issue)) followed.add(issue.id);
  }
  return pulls.filter(({ issueId }) => !followed.has(issueId));
}

/**
 * Whether an import has moved the head branch of a pull request that it follows to this commit.
 * @param head repository, full name and tip of the branch
 */
export async function isMovedByImport(
  { repositories, isFollowing }: PullDeps,
  issue: Issue,
  head: { repositoryId: string; ref: string; tip: string },
): Promise<boolean> {
  if (!isFollowed(issue) || !(await isFollowing(issue.repositoryId))) return false;
  const push = await repositories.pushes.ofTip(head.repositoryId, head.ref, head.tip);
  return push?.via === 'mirror';
}
