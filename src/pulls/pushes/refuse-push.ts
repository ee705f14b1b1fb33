import type { EntityManager } from 'typeorm';
import { refusalOnPull } from '../../access/index.ts';
import type { IssueRepositoryFacts, Viewer } from '../../access/index.ts';
import { refusalError } from '../../issues/index.ts';
import { forbidden, invalid, notFound } from '../../kernel/index.ts';
import { factsOfPull } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { pullPushSchema, pullSchema } from '../schema/pull-schema.ts';
import type { KnownPull } from './choose-pull.ts';

/** Checks whether a push to `refs/for/…` may add a round to a pull request. */
export function refuseRound(viewer: Viewer, facts: IssueRepositoryFacts, { issue, pull }: KnownPull): void {
  const refusal = refusalOnPull(viewer, facts, factsOfPull(issue, pull), 'add_round');
  if (refusal === 'hidden') throw notFound('pull_not_found', `there is no pull request #${issue.number} here`);
  if (refusal === 'level')
    throw forbidden('not_your_pull', `pull request #${issue.number} is not yours; open one of your own with a topic`);
  if (refusal !== null) throw refusalError(refusal, 'PULL');
  if (pull.source !== 'PUSH')
    throw invalid(
      'pull_of_branch',
      `pull request #${issue.number} follows ${pull.headBranch ?? 'a branch'}; push to that`,
    );
  if (issue.state !== 'OPEN')
    throw invalid(
      'pull_not_open',
      `pull request #${issue.number} is ${issue.state === 'MERGED' ? 'merged' : 'closed'}`,
    );
  if (pull.lastRound >= limits.rounds)
    throw invalid(
      'too_many_rounds',
      `a pull request can have at most ${limits.rounds} rounds; open another with a topic`,
    );
}

/**
 * Includes pull requests whose push is not recorded yet, but neither rejected pushes nor further rounds.
 * @param more number of pull requests that the push would open
 */
export async function refuseTooManyOf(
  source: EntityManager,
  repositoryId: string,
  userId: string,
  more: number,
): Promise<void> {
  const open = await source.countBy(pullSchema, { submitterId: userId, repositoryId, isOpen: true });
  const coming: { n: number } | undefined = await source
    .createQueryBuilder(pullPushSchema, 'f')
    // One row each; `getCount` would sort them to find duplicates.
    .select('count(*)', 'n')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.user_id = :userId AND f.repository_id = :repositoryId', { userId, repositoryId })
    .andWhere('p.announced_at IS NULL AND p.parked_at IS NULL')
    .andWhere('NOT EXISTS (SELECT 1 FROM issues i WHERE i.repository_id = f.repository_id AND i.number = f.number)')
    .getRawOne();
  const left = limits.openPerContributor - open - Number(coming?.n ?? 0);
  if (more <= left) return;
  throw invalid(
    'too_many_pulls',
    more === 1
      ? `you have ${limits.openPerContributor} open pull requests here; close one first`
      : `this would open ${more} pull requests, and you may open ${Math.max(0, left)} more here`,
  );
}
