import { In } from 'typeorm';
import { personIdOf, refusalInTrash, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { keepSharedAttachments } from '../attachment-uses.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, issueByNumber, repositoryInWrite } from '../find-issue.ts';
import { issueNotFound, refuse } from '../issue-errors.ts';
import type { IssueAt, RepositoryAt } from '../issue-context.ts';
import { withIssueWrite } from '../with-issue-write.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';

/** Moves an issue to the trash: hides it from everyone; its number is never reused. */
export async function trashIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  await withIssueWrite(deps, viewer, at, 'manage', async (log, { issue }) => {
    const change = { deletedAt: log.tx.now, deletedBy: personIdOf(viewer), pinnedAt: null };
    await log.tx.manager.update(issueSchema, { id: issue.id }, change);
    // Readers were not notified of held entries.
    if (issue.heldAt === null) await log.append(issue, { kind: 'trashed', touches: false });
  });
  deps.logger.info('issue.trashed', { issue: `${at.owner}/${at.name}#${at.number}`, by: viewerForLog(viewer) });
}

/** Throws `issue_not_found` if it is not in the trash, and permission errors. */
export async function restoreIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  await inTrash(deps, viewer, at, async (issue, manager) => {
    await manager.update(issueSchema, { id: issue.id }, { deletedAt: null, deletedBy: null });
  });
  deps.logger.info('issue.restored', { issue: `${at.owner}/${at.name}#${at.number}`, by: viewerForLog(viewer) });
}

/** Permanently deletes an issue in the trash, with its whole log. */
export async function purgeIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<void> {
  await inTrash(deps, viewer, at, async (issue, manager) => {
    await keepSharedAttachments({ manager }, [issue.id]);
    await manager.delete(issueSchema, { id: issue.id });
  });
  deps.logger.info('issue.purged', { issue: `${at.owner}/${at.name}#${at.number}`, by: viewerForLog(viewer) });
}

/** Trashed issues of a repository, last deleted first. */
export async function listTrashedIssues(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<Issue[]> {
  const { repository, facts } = await findRepositoryContext(deps, viewer, at);
  refuse(refusalInTrash(viewer, facts));
  return deps.db.read
    .createQueryBuilder(issueSchema, 'i')
    .where('i.repository_id = :repositoryId AND i.deleted_at IS NOT NULL', { repositoryId: repository.id })
    .orderBy('i.deleted_at', 'DESC')
    .addOrderBy('i.id', 'DESC')
    .limit(100)
    .getMany();
}

/** A single trashed issue. Throws `issue_not_found` if it is not in the trash, and permission errors. */
export async function findTrashedIssue(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<Issue> {
  const { repository, facts } = await findRepositoryContext(deps, viewer, at);
  refuse(refusalInTrash(viewer, facts));
  const issue = await issueByNumber(deps.db.lookup, repository.id, at.number);
  if (issue.deletedAt === null) throw issueNotFound();
  return issue;
}

/** Issues deleted per transaction, each with its log. */
const batch = 100;

/** For a job: deletes issues whose retention time in the trash is over. @returns how many */
export async function emptyIssueTrash({ db, clock, settings }: IssueDeps): Promise<number> {
  const before = clock.now() - settings.trashKeptMs;
  let removed = 0;
  for (;;) {
    const count = await db.write(async ({ manager }) => {
      const rows: { id: string }[] = await manager.query('SELECT i.id FROM issues i WHERE i.deleted_at <= ? LIMIT ?', [
        before,
        batch,
      ]);
      const ids = rows.map(({ id }) => id);
      await keepSharedAttachments({ manager }, ids);
      await manager.delete(issueSchema, { id: In(ids) });
      return ids.length;
    });
    removed += count;
    if (count < batch) return removed;
  }
}

async function inTrash(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  work: (issue: Issue, manager: Parameters<Parameters<IssueDeps['db']['write']>[0]>[0]['manager']) => Promise<void>,
): Promise<void> {
  const { repository, facts } = await findRepositoryContext(deps, viewer, at);
  refuse(refusalInTrash(viewer, facts));
  await deps.db.write(async (tx) => {
    const context = await repositoryInWrite(deps, tx, viewer, repository.id);
    refuse(refusalInTrash(viewer, context.facts));
    const issue = await issueByNumber(tx.manager, repository.id, at.number);
    if (issue.deletedAt === null) throw issueNotFound();
    await work(issue, tx.manager);
  });
}
