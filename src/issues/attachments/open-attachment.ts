import { personIdOf, refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { rowBy } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { ByteRange, OpenedObject } from '../../objects/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue } from '../find-issue.ts';
import { factsOfIssue, repositoryContext } from '../issue-context.ts';
import { refuse } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { attachmentSchema } from '../schema/classification-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { attachmentNotFound, mayBeId } from './attachment-id.ts';
import { objectKey } from './attachment.ts';
import type { Attachment } from './attachment.ts';

interface FoundAttachment {
  attachment: Attachment;
  /** Its current location: a file moves with its issue, and an older URL redirects here. */
  repository: { owner: string; name: string };
}

/** Limit of issues whose read access is checked for a file that many texts show. */
const maxIssues = 20;

/**
 * Finds a file that the viewer can see: one shown by a text requires access to that text's issue; one not shown yet, in
 * a draft or held text, is visible only to its uploader. Throws `attachment_not_found`, whether it is hidden or absent.
 */
export async function findAttachment(deps: IssueDeps, viewer: Viewer, id: string): Promise<FoundAttachment> {
  const attachment = mayBeId(id) ? await rowBy(deps.db.lookup, attachmentSchema, { id }) : null;
  if (attachment === null) throw attachmentNotFound();
  const located = (await deps.repositories.locate([attachment.repositoryId])).get(attachment.repositoryId);
  if (located === undefined) throw attachmentNotFound();
  const isVisible =
    attachment.issueId === null ? await isOwnDraft(deps, viewer, attachment) : await isShown(deps, viewer, attachment);
  if (!isVisible) throw attachmentNotFound();
  return { attachment, repository: { owner: located.owner.handle, name: located.repository.name } };
}

async function isOwnDraft(deps: IssueDeps, viewer: Viewer, { uploaderId, repositoryId }: Attachment): Promise<boolean> {
  if (uploaderId === null || personIdOf(viewer) !== uploaderId) return false;
  return mayRead(deps, viewer, repositoryId, null);
}

async function isShown(deps: IssueDeps, viewer: Viewer, { id }: Attachment): Promise<boolean> {
  const rows: { issueId: string }[] = await deps.db.read.query(
    'SELECT DISTINCT u.issue_id AS "issueId" FROM attachment_uses u WHERE u.attachment_id = ? ORDER BY u.issue_id LIMIT ?',
    [id, maxIssues],
  );
  for (const { issueId } of rows) {
    const issue = await rowBy(deps.db.lookup, issueSchema, { id: issueId });
    if (issue !== null && (await mayRead(deps, viewer, issue.repositoryId, factsOfIssue(issue)))) return true;
  }
  return false;
}

/**
 * @param issue null checks only the repository
 */
async function mayRead(
  deps: IssueDeps,
  viewer: Viewer,
  repositoryId: string,
  issue: ReturnType<typeof factsOfIssue> | null,
): Promise<boolean> {
  const located = (await deps.repositories.locate([repositoryId])).get(repositoryId);
  if (located === undefined) return false;
  const { facts } = await repositoryContext(deps, deps.db.lookup, personIdOf(viewer), located.repository);
  const open = { authorId: null, locked: false, deleted: false, held: false };
  return refusalOnIssue(viewer, facts, issue ?? open, 'read') === null;
}

/** The bytes of a file found by `findAttachment`. Throws `attachment_not_found` if they are gone. */
export async function readAttachment(
  { objects, logger }: Pick<IssueDeps, 'objects' | 'logger'>,
  { id }: Pick<Attachment, 'id'>,
  range?: ByteRange,
): Promise<OpenedObject> {
  const opened = await objects.get(objectKey(id), range);
  if (opened !== null) return opened;
  logger.error('attachment.missing', { id });
  throw notFound('attachment_missing', 'The content of this file is gone; the administrator can look for it.');
}

/** The files shown in the text of an issue or of one of its entries, oldest first; at most `maxListed`. */
export async function listAttachments(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  position = 0,
): Promise<Attachment[]> {
  const { issue, facts } = await findIssue(deps, viewer, at);
  refuse(refusalOnIssue(viewer, facts, factsOfIssue(issue), 'read'));
  return deps.db.read
    .createQueryBuilder(attachmentSchema, 'a')
    .innerJoin('attachment_uses', 'u', 'u.attachment_id = a.id')
    .where('u.issue_id = :issueId AND u.position = :position', { issueId: issue.id, position })
    .orderBy('a.created_at')
    .addOrderBy('a.id')
    .limit(maxListed)
    .getMany();
}

const maxListed = 100;
