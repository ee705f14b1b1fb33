import { isTrustedContributor, personIdOf, refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { toEntry } from '../entry.ts';
import type { Entry } from '../entry.ts';
import { findIssue } from '../find-issue.ts';
import { factsOfIssue } from '../issue-context.ts';
import { refuse } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { checkCloseReason, close, reopen } from '../lifecycle/change-state.ts';
import { limits } from '../limits.ts';
import { parseComment } from '../parse-texts.ts';
import { chargeRateLimit, holdsContribution, recordHeld } from '../moderation/hold-newcomers.ts';
import { withIssueWrite } from '../with-issue-write.ts';
import { subscribeOnce } from '../subscribe.ts';
import { recordReferences, resolveReferences } from '../references/resolve-references.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import type { CloseReason } from '../schema/issue-schema.ts';

export interface NewComment {
  body: unknown;
  /** Also closes or reopens, in the same transaction. */
  state?: 'open' | CloseReason;
  /** Programs may repeat a text deliberately; a form sent twice is a duplicate. */
  mayRepeat?: boolean;
}

/**
 * Adds a comment. A duplicate within moments returns the existing entry, unless repeats are allowed. Throws
 * `text_missing`, `text_too_long`, `invalid_close_reason`, `too_many_contributions`, and permission errors; writes
 * nothing if the viewer may comment but not close.
 */
export async function addComment(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { body: given, state, mayRepeat = false }: NewComment,
): Promise<Entry> {
  const body = parseComment(given);
  if (state !== undefined && state !== 'open') checkCloseReason(state);
  const found = await findIssue(deps, viewer, at);
  const duplicate = mayRepeat ? null : await sameComment(deps, viewer, found.issue.id, found.issue.lastPosition, body);
  if (duplicate !== null) return duplicate;
  refuse(refusalOnIssue(viewer, found.facts, factsOfIssue(found.issue), 'contribute'));
  chargeRateLimit(deps, viewer, found);
  const references = await resolveReferences(deps, viewer, found.repository, body);
  const entry = await withIssueWrite(deps, viewer, at, 'contribute', async (log, context) => {
    const { issue, repository, facts } = context;
    if (state !== undefined) refuse(refusalOnIssue(viewer, facts, factsOfIssue(issue), 'close'));
    const isNewcomer = await holdsContribution(log.tx, viewer, context);
    // Comments by the author of a held issue are held with it.
    const isHeld = isNewcomer || (issue.heldAt !== null && !isTrustedContributor(viewer, facts));
    const row = await log.append(issue, { kind: 'comment', body, isHeld });
    if (isHeld) await recordHeld(log, issue, row.position, viewer);
    else {
      await subscribeOnce(log.tx, issue.id, personIdOf(viewer), 'comment');
      await recordReferences(deps, log, viewer, { issue, repository, position: row.position }, references);
      if (state === 'open') await reopen(deps, log, issue);
      else if (state !== undefined) await close(log, issue, state);
    }
    return toEntry(row);
  });
  deps.textWritten({ repositoryId: found.repository.id, body });
  return entry;
}

/** Latest entries searched for a duplicate; a dozen others may have come in between. */
const duplicateWindow = 12;

async function sameComment(
  { db, clock }: IssueDeps,
  viewer: Viewer,
  issueId: string,
  lastPosition: number,
  body: string,
): Promise<Entry | null> {
  const personId = personIdOf(viewer);
  if (personId === null) return null;
  const row = await db.read
    .createQueryBuilder(entrySchema, 'e')
    .where('e.issue_id = :issueId AND e.position > :from', { issueId, from: lastPosition - duplicateWindow })
    .andWhere("e.kind = 'comment' AND e.author_id = :personId AND e.body = :body", { personId, body })
    .andWhere('e.created_at > :since AND e.deleted_at IS NULL', { since: clock.now() - limits.sameFormMs })
    .getOne();
  return row === null ? null : toEntry(row);
}
