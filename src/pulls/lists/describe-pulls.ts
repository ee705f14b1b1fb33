import { In } from 'typeorm';
import { isNotNull } from '../../db/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Issue } from '../../issues/index.ts';
import { commitKey } from '../../repositories/index.ts';
import type { CommitState } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { headOf } from '../head-label.ts';
import type { PullHead } from '../head-label.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { reviewSchema } from '../schema/review-schema.ts';

/** Data that a list shows of a pull request in addition to its issue. */
export interface DescribedPull {
  pull: PullRow;
  head: PullHead;
  /** Combines the last verdict of each reviewer; the merge policy decides whether approvals count. */
  review: 'approved' | 'changes_requested' | null;
  /** The combined status of the head; null without statuses. */
  checks: CommitState | null;
}

/**
 * Describes pull requests by the ids of their issues, which the viewer must be able to read. Needs one query per kind
 * of data.
 */
export async function describePulls(
  deps: PullDeps,
  viewer: Viewer,
  issues: readonly Pick<Issue, 'id' | 'repositoryId' | 'kind'>[],
): Promise<Map<string, DescribedPull>> {
  const ids = issues.filter(({ kind }) => kind === 'PULL').map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const pulls = await deps.db.read.findBy(pullSchema, { issueId: In(ids) });
  const commits = pulls.map(({ repositoryId, headOid }) => ({ repositoryId, sha: headOid }));
  const [statuses, verdicts] = await Promise.all([
    deps.repositories.statuses.ofRepositoryCommits(commits),
    lastVerdicts(deps, ids),
  ]);
  const described = new Map<string, DescribedPull>();
  for (const pull of pulls) {
    const head = await headOf(deps, viewer, { id: pull.repositoryId }, pull);
    const own = [...(verdicts.get(pull.issueId)?.values() ?? [])];
    described.set(pull.issueId, {
      pull,
      head,
      review: own.includes('REQUEST_CHANGES') ? 'changes_requested' : own.includes('APPROVE') ? 'approved' : null,
      checks: statuses.get(commitKey({ repositoryId: pull.repositoryId, sha: pull.headOid }))?.state ?? null,
    });
  }
  return described;
}

/** Keyed by issue and reviewer. */
async function lastVerdicts({ db }: PullDeps, ids: readonly string[]): Promise<Map<string, Map<string, string>>> {
  // Sorted here: a page of a list has few of them, and no index has this order.
  const rows = await db.read.findBy(reviewSchema, { issueId: In([...ids]), submittedAt: isNotNull() });
  rows.sort((a, b) => a.submittedAt! - b.submittedAt!);
  const verdicts = new Map<string, Map<string, string>>();
  for (const { issueId, authorId, verdict, dismissedAt } of rows) {
    if (authorId === null || verdict === null || verdict === 'COMMENT') continue;
    const own = verdicts.get(issueId) ?? new Map<string, string>();
    if (dismissedAt === null) own.set(authorId, verdict);
    else own.delete(authorId);
    verdicts.set(issueId, own);
  }
  return verdicts;
}
