import { rowBy } from '../../db/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullById } from '../find-pull.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { hasPendingPush } from './pending-push.ts';

/** A pull request as read by the caller. */
type PublishedPull = Pick<PullRow, 'issueId' | 'repositoryId' | 'headOid'> & { number: number };

/** Number of attempts while others move the ref. */
const maxTries = 5;

/**
 * Sets `refs/pull/<number>/head`, which clients fetch, to the head of the last round. The ref follows the row and is
 * never ahead of it: callers that record a round call this next, and `recoverPulls` does so after a crash in between.
 * Only a push to `refs/for/<branch>` moves the ref first; then it is left alone until its round is recorded.
 * @param path folder of the repository
 */
export async function publishHead(
  { db, git }: Pick<PullDeps, 'db' | 'git'>,
  path: string,
  { issueId, repositoryId, number, headOid }: PublishedPull,
): Promise<void> {
  const ref = `refs/pull/${number}/head`;
  if ((await git.queries.cachedRefs(path)).get(ref) === headOid) return;
  for (let tries = 0; tries < maxTries; tries += 1) {
    // The order matters: either a push that has moved the ref is pending, or the row is that of its round.
    const from = (await git.refs.tip(path, ref)) ?? null;
    if (await hasPendingPush(db.read, { repositoryId, number }, { withParked: true })) return;
    const pull = await rowBy(db.lookup, pullSchema, { issueId });
    if (pull === null || pull.headOid === from) return;
    if (await git.refs.movePullHead(path, number, { from, to: pull.headOid })) return;
  }
}

/** Publishes the head by the id of the issue; does nothing in the trash. */
export async function publishHeadOf(
  deps: Pick<PullDeps, 'db' | 'git' | 'repositories'>,
  issueId: string,
): Promise<void> {
  const found = await pullById(deps, issueId);
  if (found === null) return;
  const { pull, issue } = found;
  const located = (await deps.repositories.locate([pull.repositoryId])).get(pull.repositoryId);
  if (located !== undefined) await publishHead(deps, located.path, { ...pull, number: issue.number });
}
