import { In } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { Issue, IssueAt } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/** A pull request of a stack. */
export interface StackedPull {
  number: number;
  title: string;
  state: Issue['state'];
  isDraft: boolean;
  headOid: string;
  /** Numbers of the pull requests directly below it. */
  below: number[];
  /** Whether one below has newer commits than those on which it is based. */
  isBehind: boolean;
}

/**
 * The pull requests of the same repository on which one depends, and those that depend on it, directly or indirectly;
 * the lowest, which is merged first, comes first. A pull request is below another that depends on it or merges into its
 * branch. Empty for a single pull request. Throws the errors of `findPull`.
 */
export async function findStack(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<StackedPull[]> {
  const { issue, pull } = await findPull(deps, viewer, at);
  const source = deps.db.read;
  const pulls = new Map([[issue.id, pull]]);
  const below = new Map<string, Set<string>>();
  // First down, then up: other pull requests based on a lower one belong to a different stack.
  for (const isBelow of [true, false]) {
    const reached = new Map([[issue.id, pull]]);
    for (const [id, one] of reached)
      for (const row of await neighboursOf(source, id, one, isBelow)) {
        if (!pulls.has(row.issueId) && pulls.size >= limits.stack) continue;
        pulls.set(row.issueId, row);
        reached.set(row.issueId, row);
        const [upper, lower] = isBelow ? [id, row.issueId] : [row.issueId, id];
        below.set(upper, (below.get(upper) ?? new Set()).add(lower));
      }
  }
  if (pulls.size === 1) return [];
  const issues = await source.findBy(issueSchema, { id: In([...pulls.keys()]) });
  const shown = new Map(
    issues.filter(({ deletedAt, heldAt }) => deletedAt === null && heldAt === null).map((each) => [each.id, each]),
  );
  const heights = heightsOf([...pulls.keys()], below);
  const ordered = [...shown.values()].sort((a, b) => heights.get(a.id)! - heights.get(b.id)! || a.number - b.number);
  return ordered.map(({ id, number, title, state }) => {
    const row = pulls.get(id)!;
    const own = [...(below.get(id) ?? [])].filter((other) => shown.has(other));
    const isOnOlder = (other: string): boolean => {
      const lower = pulls.get(other)!;
      return lower.isOpen && row.stackedOnOid !== null && own.length === 1 && lower.headOid !== row.stackedOnOid;
    };
    return {
      number,
      title,
      state,
      isDraft: row.isDraft,
      headOid: row.headOid,
      below: own.map((other) => shown.get(other)!.number),
      isBehind: state === 'OPEN' && own.some(isOnOlder),
    };
  });
}

/** Pull requests directly below or above one. */
async function neighboursOf(
  source: EntityManager,
  issueId: string,
  pull: PullRow,
  isBelow: boolean,
): Promise<PullRow[]> {
  const { repositoryId, baseBranch, headBranch, headRepositoryId, isOpen } = pull;
  const [own, other] = isBelow ? ['from_id', 'to_id'] : ['to_id', 'from_id'];
  const linked = await source
    .createQueryBuilder(pullSchema, 'p')
    .innerJoin('issue_links', 'l', `l.${other} = p.issue_id`)
    .where(`l.${own} = :issueId AND l.kind = 'needs'`, { issueId })
    .andWhere('p.repository_id = :repositoryId', { repositoryId })
    .limit(limits.stack)
    .getMany();
  const isOfHere = headBranch !== null && headRepositoryId === repositoryId;
  const where = isBelow
    ? { headRepositoryId: repositoryId, headBranch: baseBranch, isOpen: true, repositoryId }
    : { repositoryId, baseBranch: headBranch ?? '', isOpen: true };
  const byBranch = isOpen && (isBelow || isOfHere) ? await source.find(pullSchema, { where, take: limits.stack }) : [];
  return [...linked, ...byBranch].filter((row) => row.issueId !== issueId);
}

/** Height of each above the lowest; in a cycle, counted from the entry point. */
function heightsOf(ids: readonly string[], below: ReadonlyMap<string, ReadonlySet<string>>): Map<string, number> {
  const heights = new Map<string, number>();
  const entered = new Set<string>();
  const heightOf = (id: string): number => {
    const known = heights.get(id);
    if (known !== undefined) return known;
    if (entered.has(id)) return 0;
    entered.add(id);
    const height = Math.max(0, ...[...(below.get(id) ?? [])].map((lower) => heightOf(lower) + 1));
    heights.set(id, height);
    return height;
  };
  for (const id of ids) heightOf(id);
  return heights;
}
