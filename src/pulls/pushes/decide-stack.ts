import type { EntityManager } from 'typeorm';
import { personIdOf } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { issueSchema, nextNumber } from '../../issues/index.ts';
import { conflict, forbidden, invalid } from '../../kernel/index.ts';
import type { PushForReview, PushTarget, ReviewVerdict } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullPushSchema, pullSchema } from '../schema/pull-schema.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';
import { acceptedPush, admitPush } from './accept-push.ts';
import type { ReadPush } from './accept-push.ts';
import { pullPageUrl } from './push-output.ts';
import type { StackCommit } from './read-stack.ts';
import type { KnownPull } from './choose-pull.ts';

interface Owner {
  repositoryId: string;
  userId: string;
  baseBranch: string;
}

/** Data read before the write. */
interface PreparedStack extends ReadPush {
  stack: readonly StackCommit[];
}

/** A commit of the stack with its pull request: an existing one, or the number of a new one. */
interface Placed {
  commit: StackCommit;
  known: KnownPull | null;
  number: number;
}

/**
 * Decides on a push with the option `stack`: each commit adds to the open pull request of the same user and branch
 * whose newest commit has its change id, or opens one. Omits commits whose pull request was merged. The push writes the
 * ref of the topmost one; the listener sets the others. Throws `push_running`, `nothing_to_merge`, and for each pull
 * request the errors of a push to it.
 */
export async function decideStack(
  deps: PullDeps,
  tx: Tx,
  push: PushForReview,
  prepared: PreparedStack,
): Promise<ReviewVerdict> {
  const { viewer, opened, newId } = push;
  const { baseBranch, stack } = prepared;
  const userId = personIdOf(viewer);
  if (userId === null) throw forbidden('only_people', 'only users can open pull requests by a push');
  const repositoryId = opened.repository.id;
  const owner = { repositoryId, userId, baseBranch };
  if (await isPushing(tx.before, owner))
    throw conflict('push_running', `another push for ${baseBranch} is under way; push again when it has ended`);
  const known = await pullsOfChanges(tx.before, owner, stack);
  const open = stack.filter(({ changeId }) => known.get(changeId)?.issue.state !== 'MERGED');
  if (open.at(-1)?.oid !== newId) throw invalid('nothing_to_merge', 'the newest commit has already been merged');
  const maxPackBytes = await admitPush(deps, tx, push, {
    userId,
    known: open.flatMap(({ changeId }) => known.get(changeId) ?? []),
    added: false,
    opened: open.filter(({ changeId }) => !known.has(changeId)).length,
  });
  const placed: Placed[] = [];
  for (const commit of open) {
    const there = known.get(commit.changeId) ?? null;
    placed.push({ commit, known: there, number: there?.issue.number ?? (await nextNumber(tx, repositoryId)) });
  }
  return acceptedPush(tx, push, prepared, {
    userId,
    placed: placed.map(({ commit: { oid, belowOid }, number }, position) => ({
      ...{ number, position, oid, belowOid },
      topic: null,
    })),
    maxPackBytes,
    remarks: async () => placed.map((one) => remarkOn(deps, opened, one)),
  });
}

function remarkOn(deps: PullDeps, opened: PushTarget, { commit, known, number }: Placed): string {
  const page = pullPageUrl(deps, opened, String(number));
  const what = known === null ? 'New pull request' : 'Pull request';
  const isSame = known !== null && known.pull.headOid === commit.oid;
  const round = known === null ? '' : isSame ? ', nothing new' : `, round ${known.pull.lastRound + 1}`;
  return `${what} #${number}${round} “${commit.subject.slice(0, 60)}”: ${page}`;
}

/** Whether a push of the user to this branch is not recorded yet; it may be about to open the same pull requests. */
const isPushing = (source: EntityManager, { repositoryId, userId, baseBranch }: Owner): Promise<boolean> =>
  source
    .createQueryBuilder(pullPushSchema, 'f')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.user_id = :userId AND f.repository_id = :repositoryId', { userId, repositoryId })
    .andWhere('f.base_branch = :baseBranch', { baseBranch })
    .andWhere('p.announced_at IS NULL AND p.parked_at IS NULL')
    .getExists();

/**
 * By change id, the pull request whose last round has it as its newest commit, preferring open ones over merged ones.
 */
async function pullsOfChanges(
  source: EntityManager,
  { repositoryId, userId, baseBranch }: Owner,
  stack: readonly StackCommit[],
): Promise<Map<string, KnownPull>> {
  const rows: { issueId: string; changeId: string }[] = await source
    .createQueryBuilder(roundCommitSchema, 'c')
    .innerJoin('pulls', 'p', 'p.issue_id = c.issue_id AND p.last_round = c.round')
    .select(['c.issue_id AS "issueId"', 'c.change_id AS "changeId"'])
    .where('c.change_id IN (:...changes)', { changes: stack.map(({ changeId }) => changeId) })
    .andWhere('p.repository_id = :repositoryId AND p.submitter_id = :userId', { repositoryId, userId })
    .andWhere("p.base_branch = :baseBranch AND p.source = 'PUSH'", { baseBranch })
    .andWhere(
      'NOT EXISTS (SELECT 1 FROM pull_commits d WHERE d.issue_id = c.issue_id AND d.round = c.round AND d.position > c.position)',
    )
    .limit(1_000)
    .getRawMany();
  const found = new Map<string, KnownPull>();
  for (const { issueId, changeId } of rows) {
    const issue = await source.findOneBy(issueSchema, { id: issueId });
    const pull = await source.findOneBy(pullSchema, { issueId });
    if (issue === null || pull === null || issue.deletedAt !== null || issue.state === 'CLOSED') continue;
    const other = found.get(changeId)?.issue;
    const isBetter =
      other === undefined ||
      (issue.state === 'OPEN' && other.state !== 'OPEN') ||
      (issue.state === other.state && issue.number > other.number);
    if (isBetter) found.set(changeId, { issue, pull });
  }
  return found;
}
