import { In } from 'typeorm';
import { personIdOf, personViewer, refusalInRepository, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { clearEntry } from '../entries/clear-entry.ts';
import { writeEntries } from '../entries/write-entries.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { refuse } from '../issue-errors.ts';
import type { RepositoryAt, RepositoryContext } from '../issue-context.ts';
import { recordReferences, resolveReferences } from '../references/resolve-references.ts';
import type { ResolvedReferences } from '../references/resolve-references.ts';
import { tellSubscribersFrom } from '../subscribe.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { contributorSchema, heldContributionSchema } from '../schema/moderation-schema.ts';
import type { HeldContributionRow } from '../schema/moderation-schema.ts';

/** Held contributions of a repository, oldest first, for users who may approve them. */
export async function listHeld(deps: IssueDeps, viewer: Viewer, at: RepositoryAt): Promise<HeldContribution[]> {
  const { repository } = await findRepositoryContext(deps, viewer, at, 'triage');
  const rows = await heldIn(deps, repository.id);
  const issues = await deps.db.read.findBy(issueSchema, { id: In([...new Set(rows.map(({ issueId }) => issueId))]) });
  const numbers = new Map(issues.map(({ id, number }) => [id, number]));
  return rows.map((row) => ({ ...row, number: numbers.get(row.issueId) ?? 0 }));
}

/** A held entry; position 0 is a whole issue. */
interface HeldContribution extends HeldContributionRow {
  /** Number of the issue. */
  number: number;
}

function heldIn({ db }: Pick<IssueDeps, 'db'>, repositoryId: string): Promise<HeldContributionRow[]> {
  return db.read
    .createQueryBuilder(heldContributionSchema, 'h')
    .where('h.repository_id = :repositoryId', { repositoryId })
    .orderBy('h.held_at')
    .addOrderBy('h.issue_id')
    .addOrderBy('h.position')
    .limit(100)
    .getMany();
}

/** Limit of one user's entries decided at a time; rate limits bound their number. */
const batch = 200;

/**
 * Approves a user: shows and announces their held entries, and does not hold later ones.
 * @param userId from `listHeld`
 */
export async function admitContributor(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  userId: string,
): Promise<void> {
  const { repository } = await findRepositoryContext(deps, viewer, at, 'triage');
  const waiting = await heldOf(deps, repository.id, userId);
  const author = personViewer(userId, 'write');
  const references = new Map<string, ResolvedReferences>();
  for (const { issueId, position } of waiting) {
    const entry = await deps.db.read.findOneBy(entrySchema, { issueId, position });
    if (entry?.body == null) continue;
    references.set(`${issueId} ${position}`, await resolveReferences(deps, author, repository, entry.body));
  }
  await decide(deps, viewer, repository.id, async (log, context) => {
    const { manager, now } = log.tx;
    await manager.upsert(
      contributorSchema,
      { repositoryId: repository.id, userId, firstAt: waiting[0]?.heldAt ?? now, admittedAt: now },
      ['repositoryId', 'userId'],
    );
    for (const { issueId, position } of waiting) {
      const key = { issueId, position };
      const { affected } = await manager.delete(heldContributionSchema, key);
      const issue = await manager.findOneBy(issueSchema, { id: issueId });
      if (affected === 0 || issue === null) continue;
      await manager.update(entrySchema, key, { heldAt: null, attempts: 1, triedAt: now });
      const change =
        position === 0
          ? { heldAt: null, updatedAt: now }
          : { commentCount: issue.commentCount + 1, updatedAt: Math.max(now, issue.updatedAt) };
      await manager.update(issueSchema, { id: issueId }, change);
      Object.assign(issue, change);
      log.appended.push(key);
      await tellSubscribersFrom(log.tx, issueId, position);
      const refers = references.get(`${issueId} ${position}`);
      const from = { issue, repository: context.repository, position };
      if (refers !== undefined) await recordReferences(deps, log, author, from, refers);
    }
  });
  deps.logger.info('issue.contributor_admitted', {
    repository: repository.id,
    person: userId,
    by: viewerForLog(viewer),
  });
}

/**
 * Rejects a user's held contributions: empties comments, and moves issues to the trash. Later contributions are held
 * again.
 */
export async function refuseContributor(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  userId: string,
): Promise<void> {
  const { repository } = await findRepositoryContext(deps, viewer, at, 'triage');
  const waiting = await heldOf(deps, repository.id, userId);
  await decide(deps, viewer, repository.id, async ({ tx }) => {
    const { manager, now } = tx;
    const issues = await manager.findBy(issueSchema, { id: In([...new Set(waiting.map(({ issueId }) => issueId))]) });
    for (const { issueId, position } of waiting) {
      const issue = issues.find(({ id }) => id === issueId);
      const entry = await manager.findOneBy(entrySchema, { issueId, position });
      const { affected } = await manager.delete(heldContributionSchema, { issueId, position });
      if (affected === 0 || issue === undefined || entry === null) continue;
      if (position > 0) await clearEntry(tx, issue, entry);
      else
        await manager.update(
          issueSchema,
          { id: issueId },
          { heldAt: null, deletedAt: now, deletedBy: personIdOf(viewer) },
        );
      // Readers are not notified of a text that was never shown.
      await manager.update(entrySchema, { issueId, position }, { heldAt: null, announcedAt: now });
    }
  });
  deps.logger.info('issue.contributor_refused', {
    repository: repository.id,
    person: userId,
    by: viewerForLog(viewer),
  });
}

function heldOf({ db }: IssueDeps, repositoryId: string, userId: string): Promise<HeldContributionRow[]> {
  return db.read
    .createQueryBuilder(heldContributionSchema, 'h')
    .where('h.user_id = :userId AND h.repository_id = :repositoryId', { repositoryId, userId })
    .orderBy('h.issue_id')
    .addOrderBy('h.position')
    .limit(batch)
    .getMany();
}

async function decide(
  deps: IssueDeps,
  viewer: Viewer,
  repositoryId: string,
  work: (log: EntryLog, context: RepositoryContext) => Promise<void>,
): Promise<void> {
  await writeEntries(deps, viewer, async (log) => {
    const context = await repositoryInWrite(deps, log.tx, viewer, repositoryId);
    refuse(refusalInRepository(viewer, context.facts, 'triage'));
    await work(log, context);
  });
}
