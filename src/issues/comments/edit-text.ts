import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { toEntry } from '../entry.ts';
import type { Entry } from '../entry.ts';
import { writeEntries } from '../entries/write-entries.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { clearEntry, touchIssue } from '../entries/clear-entry.ts';
import { findIssue, issueInWrite } from '../find-issue.ts';
import { entryNotFound, revisionConflict } from '../issue-errors.ts';
import type { IssueAt, IssueContext } from '../issue-context.ts';
import { parseBody, parseComment } from '../parse-texts.ts';
import { recordReferences, resolveReferences } from '../references/resolve-references.ts';
import type { ResolvedReferences } from '../references/resolve-references.ts';
import { entryRevisionSchema, entrySchema } from '../schema/entry-schema.ts';
import type { EntryRevisionRow, EntryRow } from '../schema/entry-schema.ts';

interface EditedText {
  /** 0 for the issue text. */
  position: number;
  body: unknown;
  /** The revision from which the form was created. */
  revision: number;
}

/**
 * Replaces the text of an issue or a comment, keeping the previous one as a revision. Throws `entry_not_found`;
 * `text_changed_meanwhile` for a form with an older text; permission errors.
 */
export async function editText(deps: IssueDeps, viewer: Viewer, at: IssueAt, edited: EditedText): Promise<Entry> {
  const { position, revision } = edited;
  const body = position === 0 ? parseBody(edited.body) : parseComment(edited.body);
  const found = await findIssue(deps, viewer, at);
  const references = await resolveReferences(deps, viewer, found.repository, body);
  const edit = await writeEntries(deps, viewer, async (log) => {
    const entry = await textInWrite(log.tx, found.issue.id, position);
    const { issue, repository } = await issueInWrite(deps, log.tx, viewer, found.issue, 'edit_entry', entry);
    if (entry.revision !== revision) throw revisionConflict();
    return toEntry(await replaceText(deps, log, viewer, { issue, repository, entry }, { body, references }));
  });
  deps.textWritten({ repositoryId: found.repository.id, body });
  return edit;
}

/** Runs in a transaction that has checked access. The log gets an entry that the timeline does not show. */
export async function replaceText(
  deps: IssueDeps,
  log: EntryLog,
  viewer: Viewer,
  { issue, repository, entry }: Pick<IssueContext, 'issue' | 'repository'> & { entry: EntryRow },
  { body, references }: { body: string; references: ResolvedReferences },
): Promise<EntryRow> {
  if (entry.body === body) return entry;
  const { manager, now } = log.tx;
  const { position, revision } = entry;
  const key = { issueId: issue.id, position };
  const editorId = personIdOf(viewer);
  await manager.insert(entryRevisionSchema, { ...key, revision, body: entry.body!, editorId, editedAt: now });
  const change = { body, revision: revision + 1, editedAt: now };
  await manager.update(entrySchema, key, change);
  await touchIssue(log.tx, issue);
  // A held text creates no references and notifies no reader before it is approved.
  if (entry.heldAt === null) {
    await recordReferences(deps, log, viewer, { issue, repository, position }, references);
    await log.append(issue, { kind: 'edited', details: { position, revision } });
  }
  return { ...entry, ...change };
}

/** Edits a review text, which has no revisions. Runs in a transaction that has checked access. */
export async function replaceReviewText(
  { manager, now }: Tx,
  key: { issueId: string; position: number },
  body: string,
): Promise<void> {
  await manager.update(entrySchema, { ...key, kind: 'review' }, { body, editedAt: now });
}

/**
 * Empties a comment: keeps its number and position, deletes text, revisions and reactions. Throws `entry_not_found`,
 * and permission errors.
 */
export async function deleteComment(deps: IssueDeps, viewer: Viewer, at: IssueAt, position: number): Promise<void> {
  const found = await findIssue(deps, viewer, at);
  await writeEntries(deps, viewer, async (log) => {
    const entry = await textInWrite(log.tx, found.issue.id, position);
    const { issue } = await issueInWrite(deps, log.tx, viewer, found.issue, 'delete_entry', entry);
    // The issue text is deleted only with the issue.
    if (position === 0) throw entryNotFound();
    await clearEntry(log.tx, issue, entry);
    if (entry.heldAt === null) await log.append(issue, { kind: 'emptied', details: { position } });
  });
  deps.logger.info('issue.comment_deleted', {
    issue: `${at.owner}/${at.name}#${at.number}`,
    position,
    by: viewerForLog(viewer),
  });
}

/** The last 200 previous texts of an entry, oldest first; the current one is in the entry. */
export async function listRevisions(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  position: number,
): Promise<EntryRevisionRow[]> {
  const { issue } = await findIssue(deps, viewer, at);
  const entry = await deps.db.read.findOneBy(entrySchema, { issueId: issue.id, position });
  // Viewers who cannot see a held entry cannot see its revisions.
  if (entry === null || entry.heldAt !== null || entry.deletedAt !== null) throw entryNotFound();
  const rows = await deps.db.read
    .createQueryBuilder(entryRevisionSchema, 'r')
    .where('r.issue_id = :issueId AND r.position = :position', { issueId: issue.id, position })
    .orderBy('r.revision', 'DESC')
    .limit(200)
    .getMany();
  return rows.reverse();
}

/** The row of an editable text. Throws `entry_not_found`. */
export async function textInWrite({ manager }: Tx, issueId: string, position: number): Promise<EntryRow> {
  const entry = await manager.findOneBy(entrySchema, { issueId, position });
  const isText = entry !== null && entry.body !== null && entry.deletedAt === null;
  if (!isText || (entry.kind !== 'opened' && entry.kind !== 'comment')) throw entryNotFound();
  return entry;
}

/** The text before an edit, for listeners of `edited` entries; null if it is gone. */
export async function textBefore(
  { db }: Pick<IssueDeps, 'db'>,
  issueId: string,
  { position, revision }: { position: number; revision: number },
): Promise<string | null> {
  return (await db.read.findOneBy(entryRevisionSchema, { issueId, position, revision }))?.body ?? null;
}
