import { refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { refuseTooManyAttachments } from '../attachment-uses.ts';
import { editText } from '../comments/edit-text.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue } from '../find-issue.ts';
import { factsOfIssue } from '../issue-context.ts';
import { issueNotFound, refuse } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { addAttachment } from './add-attachment.ts';
import type { NewAttachment } from './add-attachment.ts';
import { attachmentMarkdown } from './attachment.ts';
import type { Attachment } from './attachment.ts';

/** Retries after concurrent edits between reading the text and writing it. */
const maxTries = 3;

/**
 * Stores a file and appends a line that shows it to the text of an issue or a comment, for programs, which have no
 * form. Throws `too_many_attachments` before storing anything, and what `addAttachment` and `editText` throw.
 */
export async function attachToIssue(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  file: NewAttachment,
  position = 0,
): Promise<Attachment> {
  const { issue, facts } = await findIssue(deps, viewer, at);
  const { text: before, authorId } = await textOf(deps, issue.id, position);
  refuse(refusalOnIssue(viewer, facts, factsOfIssue(issue), 'edit_entry', { position, authorId }));
  refuseTooManyAttachments(before, 1);
  const attachment = await addAttachment(deps, viewer, at, { ...file, kind: issue.kind });
  for (let turn = 1; ; turn += 1) {
    const { text, revision } = await textOf(deps, issue.id, position);
    const line = attachmentMarkdown(attachment, at);
    const body = text.trim() === '' ? line : `${text}\n\n${line}`;
    try {
      await editText(deps, viewer, at, { position, body, revision });
      return attachment;
    } catch (error) {
      if (turn === maxTries || !isDomainError(error) || error.reason !== 'text_changed_meanwhile') throw error;
    }
  }
}

async function textOf(
  { db }: Pick<IssueDeps, 'db'>,
  issueId: string,
  position: number,
): Promise<{ text: string; revision: number; authorId: string | null }> {
  const entry = await db.read.findOneBy(entrySchema, { issueId, position });
  if (entry === null) throw issueNotFound();
  return { text: entry.body ?? '', revision: entry.revision, authorId: entry.authorId };
}
