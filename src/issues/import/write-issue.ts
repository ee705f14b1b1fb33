import { In, IsNull, Not } from 'typeorm';
import type { EntitySchema } from 'typeorm';
import { isNotNull } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { attachmentsIn } from '../attachment-uses.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import {
  attachmentSchema,
  attachmentUseSchema,
  issueLabelSchema,
  labelSchema,
  milestoneSchema,
} from '../schema/classification-schema.ts';
import { entryRevisionSchema, entrySchema } from '../schema/entry-schema.ts';
import type { EntryRow } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { hiddenEntrySchema } from '../schema/moderation-schema.ts';
import { assigneeSchema, importedReactionSchema, reactionSchema } from '../schema/participation-schema.ts';
import type { ImportedReactionRow } from '../schema/participation-schema.ts';
import { insertOrIgnore } from '../insert-or-ignore.ts';
import type { StoredFiles } from './import-attachments.ts';
import { entryOrigin, entryRows, issueColumns, originOf } from './issue-rows.ts';
import type { EntryRows, RowContext } from './issue-rows.ts';
import type { PreparedPull } from './pull-importer.ts';
import type { ImportedIssue } from './export-file-schemas.ts';

/** An issue ready to be written, without further slow work. */
export interface PreparedIssue {
  issue: ImportedIssue;
  /** Pull requests only. */
  pull?: PreparedPull | undefined;
  context: Omit<RowContext, 'now'>;
  /** Labels of the repository and of the owning organisation. */
  labelScopes: readonly { repositoryId?: string; organisationId?: string }[];
  files: StoredFiles;
  /** Whether an earlier import created it. */
  isKnown: boolean;
  /**
   * Set when another forge is followed while work continues here: keeps local changes and reports them as conflicts.
   * With `isWhole`, comments missing in the log were deleted there; `planBefore` is what the earlier run read there.
   */
  following?: { isWhole: boolean; planBefore: IssuePlan } | undefined;
}

/** Due date and branch of an issue. */
export type IssuePlan = Pick<Issue, 'dueOn' | 'ref'>;

/** Result of writing an issue. */
interface WrittenIssue {
  /** Local positions of its entries, by their positions in the import. */
  positions: ReadonlyMap<number, number>;
  /** Fields changed on both sides, which keep the local value. */
  conflicts: readonly string[];
}

/** Rows per statement: SQLite takes 32,766 parameters, and an entry has nineteen columns. */
const rowsPerInsert = 500;

/** Inserts an issue with its log, or updates the one of an earlier import. */
export async function writeIssue(tx: Tx, prepared: PreparedIssue): Promise<WrittenIssue> {
  const { manager, now } = tx;
  const context: RowContext = { ...prepared.context, now };
  const { issue } = prepared;
  const milestone =
    issue.milestone === null
      ? null
      : await manager.findOneBy(milestoneSchema, {
          repositoryId: context.repositoryId,
          titleFolded: foldName(issue.milestone),
        });
  const known = prepared.isKnown ? await manager.findOneBy(issueSchema, { id: context.id }) : null;
  const fresh = issueColumns(issue, context, milestone?.id ?? null);
  const columns = {
    ...fresh,
    ...(known !== null && keepPlan(prepared, known)),
    lockedAt: issue.isLocked ? (known?.lockedAt ?? now) : null,
  };
  if (known === null) {
    const row: Issue = {
      id: context.id,
      repositoryId: context.repositoryId,
      number: issue.number,
      ...columns,
      lastPosition: 0,
      commentCount: 0,
      pinnedAt: null,
      origin: originOf(issue),
    };
    await manager.insert(issueSchema, row);
  }
  const { lastPosition, commentCount, positions, conflicts } = await writeEntries(tx, prepared, context, known);
  const changedHere = known !== null && prepared.following ? await changesHere(tx, known) : null;
  const isClash = changedHere !== null && (known!.title !== columns.title || known!.state !== columns.state);
  await manager.update(
    issueSchema,
    { id: context.id },
    {
      ...(changedHere === null ? columns : {}),
      // Later local changes take precedence.
      updatedAt: Math.max(columns.updatedAt, known?.updatedAt ?? 0),
      lastPosition,
      commentCount,
      pinnedAt: known?.pinnedAt ?? (issue.isPinned && (await mayPin(tx, context.repositoryId)) ? now : null),
    },
  );
  if (changedHere === null) {
    await writeLabels(tx, prepared);
    await writeAssignees(tx, prepared);
  }
  if (isClash) conflicts.push(`its ${changedHere} changed here and there; it stays as it is here`);
  return { positions, conflicts };
}

/** No entry records a change of them: what differs from the earlier run was changed here, and stays. */
function keepPlan({ issue, following }: PreparedIssue, known: IssuePlan): Partial<IssuePlan> {
  const isKept = (field: keyof IssuePlan): boolean =>
    issue[field] === undefined || (following !== undefined && known[field] !== following.planBefore[field]);
  return { ...(isKept('dueOn') && { dueOn: known.dueOn }), ...(isKept('ref') && { ref: known.ref }) };
}

/** Kinds of entries that record changes other than to texts. */
const changes =
  "('closed', 'reopened', 'merged', 'titled', 'labelled', 'unlabelled', 'milestoned', 'assigned', 'unassigned')";

/** Local changes since the import, in words; null for none. */
async function changesHere({ manager }: Tx, { id }: Issue): Promise<string | null> {
  const [row]: { kind: string }[] = await manager.query(
    `SELECT kind FROM issue_entries WHERE issue_id = ? AND origin IS NULL AND kind IN ${changes} LIMIT 1`,
    [id],
  );
  if (row === undefined) return null;
  return row.kind === 'titled' ? 'title' : /label/.test(row.kind) ? 'labels' : 'state';
}

async function writeAssignees(tx: Tx, { issue, context, isKnown, following }: PreparedIssue): Promise<void> {
  const assignees = context.people.idsOf(issue.assignees);
  if (isKnown && following !== undefined)
    await tx.manager.delete(assigneeSchema, { issueId: context.id, userId: Not(In(assignees)) });
  for (const userId of assignees) await insertOrIgnore(tx, assigneeSchema, { issueId: context.id, userId });
}

async function writeEntries(
  tx: Tx,
  { issue, files, following }: PreparedIssue,
  context: RowContext,
  known: Issue | null,
): Promise<{ lastPosition: number; commentCount: number; positions: Map<number, number>; conflicts: string[] }> {
  const { manager } = tx;
  const present =
    known === null
      ? new Map<string, EntryRow>()
      : new Map((await manager.findBy(entrySchema, { issueId: known.id })).map((row) => [row.origin ?? '', row]));
  let lastPosition = known?.lastPosition ?? 0;
  let commentCount = known?.commentCount ?? 0;
  const added: EntryRows[] = [];
  const positions = new Map<number, number>();
  const conflicts: string[] = [];
  const gone = new Map(present);
  for (const given of issue.entries) {
    const old = present.get(entryOrigin(given));
    gone.delete(entryOrigin(given));
    const position = old?.position ?? (known === null ? given.position : lastPosition + 1);
    const rows = entryRows(given, position, context);
    if (rows === null) continue;
    positions.set(given.position, position);
    if (old !== undefined) {
      const isMine = following !== undefined && old.body !== rows.entry.body && (await wasEditedHere(tx, old));
      if (isMine) conflicts.push(`the text of entry ${position} was edited here and there; it stays as it is here`);
      else commentCount += await updateText(tx, old, rows.entry, following !== undefined);
      if (following !== undefined) await replaceReactions(tx, old, rows);
      continue;
    }
    added.push(rows);
    lastPosition = Math.max(lastPosition, position);
    commentCount += isComment(rows.entry) ? 1 : 0;
  }
  if (following?.isWhole)
    for (const old of gone.values())
      if (old.origin !== null && old.via === 'import' && isComment(old)) {
        const key = { issueId: old.issueId, position: old.position };
        await manager.update(entrySchema, key, { body: null, deletedAt: tx.now, revision: old.revision + 1 });
        commentCount -= 1;
      }
  await insertAll(
    tx,
    entrySchema,
    added.map(({ entry }) => entry),
  );
  await insertAll(
    tx,
    entryRevisionSchema,
    added.flatMap(({ revisions }) => revisions),
  );
  await insertAll(
    tx,
    reactionSchema,
    added.flatMap(({ reactions }) => reactions),
  );
  await insertAll(
    tx,
    importedReactionSchema,
    added.flatMap(({ importedReactions }) => importedReactions),
  );
  await insertAll(
    tx,
    hiddenEntrySchema,
    added.flatMap(({ hidden }) => hidden ?? []),
  );
  await writeFiles(tx, context.id, files, added);
  return { lastPosition, commentCount, positions, conflicts };
}

/** Whether a local user has replaced the text. */
async function wasEditedHere({ manager }: Tx, { issueId, position }: EntryRow): Promise<boolean> {
  return manager.existsBy(entryRevisionSchema, { issueId, position, editorId: isNotNull() });
}

async function replaceReactions(tx: Tx, { issueId, position }: EntryRow, rows: EntryRows): Promise<void> {
  const { manager } = tx;
  await manager.delete(importedReactionSchema, { issueId, position, userId: IsNull() });
  const isNamed = ({ userId }: ImportedReactionRow): boolean => userId === null;
  await insertAll(tx, importedReactionSchema, rows.importedReactions.filter(isNamed));
  for (const row of rows.importedReactions)
    if (!isNamed(row))
      await insertOrIgnore(tx, importedReactionSchema, { ...row, isOwn: await hasOwnReaction(tx, row) });
  for (const row of rows.reactions) await insertOrIgnore(tx, reactionSchema, row);
}

/** Whether the account of a claimed person has given the reaction itself: then it stays when the claim is reverted. */
async function hasOwnReaction(
  { manager }: Tx,
  { issueId, position, kind, userId }: ImportedReactionRow,
): Promise<boolean> {
  const key = { issueId, position, kind, userId: userId! };
  const isBrought = await manager.existsBy(importedReactionSchema, { ...key, isOwn: false });
  return !isBrought && (await manager.existsBy(reactionSchema, key));
}

const isComment = ({ kind, deletedAt }: Pick<EntryRow, 'kind' | 'deletedAt'>): boolean =>
  kind === 'comment' && deletedAt === null;

/**
 * Updates a text that was edited or deleted at the source, unless it was edited here later.
 * @param isNewer whether the source's text takes precedence regardless of times: not every forge has edit times
 * @returns the change of the comment count
 */
async function updateText({ manager }: Tx, old: EntryRow, fresh: EntryRow, isNewer: boolean): Promise<number> {
  const isSame = old.body === fresh.body && (old.deletedAt === null) === (fresh.deletedAt === null);
  const isOlder = !isNewer && (old.editedAt ?? 0) > (fresh.editedAt ?? 0);
  if (isSame || old.deletedAt !== null || isOlder) return 0;
  const key = { issueId: old.issueId, position: old.position };
  if (old.body !== null && fresh.deletedAt === null)
    await manager.insert(entryRevisionSchema, {
      ...key,
      revision: old.revision,
      body: old.body,
      editorId: null,
      editedAt: fresh.editedAt ?? fresh.createdAt,
    });
  const { body, editedAt, deletedAt } = fresh;
  await manager.update(entrySchema, key, { body, editedAt, deletedAt, revision: old.revision + 1 });
  return isComment(old) && deletedAt !== null ? -1 : 0;
}

/**
 * The rows of files, and the texts that show them; a file that only a previous text shows belongs to the issue text.
 */
async function writeFiles(
  tx: Tx,
  issueId: string,
  { rows, ids }: StoredFiles,
  added: readonly EntryRows[],
): Promise<void> {
  await insertAll(
    tx,
    attachmentSchema,
    rows.map((row) => ({ ...row, issueId })),
  );
  const here = new Set(ids.values());
  const used = new Set<string>();
  for (const { entry } of added) {
    for (const attachmentId of attachmentsIn(entry.body ?? '')) {
      if (!here.has(attachmentId)) continue;
      used.add(attachmentId);
      await insertOrIgnore(tx, attachmentUseSchema, { attachmentId, issueId, position: entry.position });
    }
  }
  for (const { id } of rows)
    if (!used.has(id)) await insertOrIgnore(tx, attachmentUseSchema, { attachmentId: id, issueId, position: 0 });
}

/** The labels of the file that exist by name. */
async function writeLabels(tx: Tx, { issue, context: { id }, labelScopes }: PreparedIssue): Promise<void> {
  const { manager } = tx;
  await manager.delete(issueLabelSchema, { issueId: id });
  if (issue.labels.length === 0) return;
  const nameFolded = In([...new Set(issue.labels.map(foldName))]);
  const labels = await manager.findBy(
    labelSchema,
    labelScopes.map((scope) => ({ ...scope, nameFolded })),
  );
  // A repository label takes precedence over an organisation label of the same name.
  const byName = new Map(
    labels
      .sort((a, b) => Number(a.repositoryId !== null) - Number(b.repositoryId !== null))
      .map((label) => [label.nameFolded, label.id]),
  );
  await insertAll(
    tx,
    issueLabelSchema,
    [...byName.values()].map((labelId) => ({ issueId: id, labelId })),
  );
}

async function mayPin({ manager }: Tx, repositoryId: string): Promise<boolean> {
  const [row]: { n: number }[] = await manager.query(
    'SELECT count(*) AS n FROM issues WHERE repository_id = ? AND pinned_at IS NOT NULL AND deleted_at IS NULL',
    [repositoryId],
  );
  return Number(row!.n) < limits.pinsPerRepository;
}

async function insertAll<Row extends object>(
  { manager }: Tx,
  schema: EntitySchema<Row>,
  rows: readonly Row[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerInsert)
    await manager.insert(schema, rows.slice(at, at + rowsPerInsert) as never);
}
