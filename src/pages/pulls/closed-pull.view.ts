import type { ListedIssue } from '../../issues/index.ts';
import type { DescribedPull, MergeBox } from '../../pulls/index.ts';
import type { FoundWithHeader } from '../app/context.ts';
import { repositoryUrl } from '../../http/index.ts';
import { commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import { viewSomeone } from '../issues/people.view.ts';
import type { People } from '../issues/people.view.ts';

interface ClosedPullContext {
  issue: ListedIssue;
  described: DescribedPull;
  found: FoundWithHeader;
  people: People;
  now: number;
  /** Whether the viewer can push to the head repository, and so delete its branch. */
  mayPushBranch: boolean;
}

/** Replaces the merge box of a closed pull request: how it was closed, and the actions for its branch. */
export function viewClosedPull(
  box: MergeBox,
  { issue, described, found, people, now, mayPushBranch }: ClosedPullContext,
) {
  const { pull, head } = described;
  const isMerged = issue.state === 'MERGED';
  const mayWrite = found.level === 'write' || found.level === 'admin';
  const isActive = found.repository.archivedAt === null;
  const isDefault = head.repository !== null && head.repository.repository.defaultBranch === head.branch;
  return {
    isMerged,
    by: viewSomeone({ id: pull.mergedBy, name: pull.mergedByName }, people),
    at: pull.mergedAt === null ? null : viewTime(pull.mergedAt, now),
    commit:
      pull.mergedOid === null
        ? null
        : { name: pull.mergedOid.slice(0, 10), url: commitUrl(repositoryUrl(found.canonical), pull.mergedOid) },
    branch: pull.headBranch === null ? null : viewName(pull.headBranch),
    /** Only a branch without further commits. */
    mayDelete: isActive && !isDefault && box.headTip !== null && box.headTip === pull.headOid && mayPushBranch,
    mayRestore: isActive && mayWrite && box.headTip === null && pull.headRepositoryId === found.repository.id,
    mayRevert: isActive && isMerged && mayWrite && pull.mergedOid !== null,
  };
}
