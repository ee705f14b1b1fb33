import { In } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { toEntry } from '../entry.ts';
import type { Entry } from '../entry.ts';
import { listEntries } from '../entries/list-entries.ts';
import { findRepositoryContext } from '../find-issue.ts';
import { entryNotFound } from '../issue-errors.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { issueSchema, issueSerialSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { hiddenEntrySchema } from '../schema/moderation-schema.ts';
import type { HideReason } from '../schema/moderation-schema.ts';

/** A comment with its issue. */
interface FoundComment {
  issue: Issue;
  /** Number of the issue. */
  serial: number;
  entry: Entry & { hiddenFor: HideReason | null };
}

/** Positions in an issue; larger than `limits.entriesPerIssue`. */
const positions = 2 ** 20;

/** Integer id of an entry for clients of Gitea's API; stable when the issue moves. */
export const commentIdOf = (serial: number, position: number): number => serial * positions + position;

/** Finds a comment of a repository by its id. Throws `repository_not_found`, `entry_not_found`. */
export async function findComment(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  id: number,
): Promise<FoundComment> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  if (!Number.isSafeInteger(id) || id < positions) throw entryNotFound();
  const [serial, position] = [Math.floor(id / positions), id % positions];
  const row = await deps.db.read.findOneBy(issueSerialSchema, { serial });
  const issue = row === null ? null : await deps.db.read.findOneBy(issueSchema, { id: row.issueId });
  if (issue === null || issue.repositoryId !== repository.id || issue.deletedAt !== null) throw entryNotFound();
  const where = { ...at, number: issue.number };
  const { entries } = await listEntries(deps, viewer, where, { from: position, limit: 1, kinds: ['comment'] });
  const [entry] = entries;
  if (entry === undefined || entry.position !== position || entry.deletedAt !== null) throw entryNotFound();
  return { issue, serial, entry };
}

/**
 * All comments of a repository, ordered by issue. Omits held ones.
 * @param since only comments written or edited since then, epoch milliseconds
 * @param after `next` of the previous page. Throws `repository_not_found`, `invalid_page`.
 */
export async function listRepositoryComments(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { since = 0, before = Number.MAX_SAFE_INTEGER }: { since?: number; before?: number },
  { limit, after = null }: { limit: number; after?: string | null },
): Promise<{ rows: FoundComment[]; next: string | null }> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const { number, position } = after === null ? { number: 0, position: 0 } : readKey(after);
  const found = await deps.db.read
    .createQueryBuilder(entrySchema, 'e')
    .innerJoin('issues', 'i', 'i.id = e.issue_id')
    .where('i.repository_id = :repositoryId AND i.number >= :number', { repositoryId: repository.id, number })
    .andWhere('i.comment_count > 0 AND i.deleted_at IS NULL AND i.held_at IS NULL AND i.updated_at >= :since', {
      since,
    })
    .andWhere("e.kind = 'comment' AND e.deleted_at IS NULL AND e.held_at IS NULL")
    .andWhere('(i.number > :number OR e.position > :position)', { position })
    .andWhere('coalesce(e.edited_at, e.created_at) BETWEEN :since AND :before', { before })
    .orderBy('i.number')
    .addOrderBy('e.position')
    .limit(limit + 1)
    .getMany();
  const page = found.slice(0, limit);
  if (page.length === 0) return { rows: [], next: null };
  const ids = [...new Set(page.map(({ issueId }) => issueId))];
  const [issues, serials, hidden] = await Promise.all([
    deps.db.read.findBy(issueSchema, { id: In(ids) }),
    deps.db.read.findBy(issueSerialSchema, { issueId: In(ids) }),
    deps.db.read.findBy(hiddenEntrySchema, { issueId: In(ids) }),
  ]);
  const rows = page.map((row): FoundComment => {
    const reason = hidden.find((each) => each.issueId === row.issueId && each.position === row.position)?.reason;
    return {
      issue: issues.find(({ id }) => id === row.issueId)!,
      serial: serials.find(({ issueId }) => issueId === row.issueId)?.serial ?? 0,
      entry: { ...toEntry(row), hiddenFor: reason ?? null },
    };
  });
  const last = rows.at(-1)!;
  return { rows, next: found.length > limit ? `${last.issue.number}.${last.entry.position}` : null };
}

function readKey(key: string): { number: number; position: number } {
  const [, number, position] = /^(\d{1,15})\.(\d{1,15})$/.exec(key) ?? [];
  if (number === undefined || position === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { number: Number(number), position: Number(position) };
}
