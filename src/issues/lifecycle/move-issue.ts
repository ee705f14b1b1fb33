import { In } from 'typeorm';
import { refusalInRepository, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { refuse } from '../issue-errors.ts';
import type { IssueAt, RepositoryAt } from '../issue-context.ts';
import { labelsOf, setLabels } from '../labels/set-labels.ts';
import { nextNumber } from '../numbers/next-number.ts';
import { withIssueWrite } from '../with-issue-write.ts';
import { attachmentSchema, labelSchema } from '../schema/classification-schema.ts';
import { issueSchema, movedIssueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { heldContributionSchema } from '../schema/moderation-schema.ts';
import { trackedTimeSchema } from '../schema/time-schema.ts';

/**
 * Moves an issue to another repository that the viewer administers: it gets a new number, and the old one redirects. It
 * keeps labels that exist there by name, and loses its milestone. Throws `move_would_publish` from a PRIVATE repository
 * to a PUBLIC one, `already_there`, and permission errors.
 */
export async function moveIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt, to: RepositoryAt): Promise<Issue> {
  const target = await findRepositoryContext(deps, viewer, to, 'manage');
  const moved = await withIssueWrite(deps, viewer, at, 'manage', async (log, { issue, repository }) => {
    const { manager, now } = log.tx;
    if (issue.kind === 'PULL')
      throw invalid('pull_not_movable', 'A pull request cannot be moved to another repository.', { field: 'to' });
    const { repository: home, facts } = await repositoryInWrite(deps, log.tx, viewer, target.repository.id);
    refuse(refusalInRepository(viewer, facts, 'manage'));
    if (home.id === repository.id)
      throw invalid('already_there', 'The issue is already in this repository.', { field: 'to' });
    if (repository.visibility === 'PRIVATE' && home.visibility === 'PUBLIC')
      throw invalid('move_would_publish', 'This would publish an issue of a private repository.', { field: 'to' });
    const names = (await labelsOf(log.tx, issue.id)).map(({ nameFolded }) => nameFolded);
    const number = await nextNumber(log.tx, home.id);
    await manager.insert(movedIssueSchema, {
      repositoryId: repository.id,
      number: issue.number,
      issueId: issue.id,
      movedAt: now,
    });
    const change = { repositoryId: home.id, number, milestoneId: null, pinnedAt: null };
    await manager.update(issueSchema, { id: issue.id }, change);
    Object.assign(issue, change);
    await manager.update(heldContributionSchema, { issueId: issue.id }, { repositoryId: home.id });
    await manager.update(attachmentSchema, { issueId: issue.id }, { repositoryId: home.id });
    await manager.update(trackedTimeSchema, { issueId: issue.id }, { repositoryId: home.id });
    // Omits the old path: readers of the issue here may have no access there.
    await log.append(issue, { kind: 'moved' });
    if (names.length > 0) {
      const scopes = [{ repositoryId: home.id }, ...organisationScope(home.ownerOrganisationId)];
      const known = await manager.findBy(
        labelSchema,
        scopes.map((scope) => ({ ...scope, nameFolded: In(names) })),
      );
      await setLabels(log, { issue, repository: home }, [...new Set(known.map(({ nameFolded }) => nameFolded))]);
    }
    return issue;
  });
  deps.logger.info('issue.moved', {
    issue: `${at.owner}/${at.name}#${at.number}`,
    to: `${to.owner}/${to.name}#${moved.number}`,
    by: viewerForLog(viewer),
  });
  return moved;
}

const organisationScope = (organisationId: string | null) => (organisationId === null ? [] : [{ organisationId }]);
