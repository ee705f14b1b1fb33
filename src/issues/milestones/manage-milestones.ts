import { refusalInRepository } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { refuse } from '../issue-errors.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { limits } from '../limits.ts';
import { foldName } from '../parse-texts.ts';
import { milestoneSchema } from '../schema/classification-schema.ts';
import type { Milestone } from '../schema/classification-schema.ts';

interface MilestoneFields {
  title: unknown;
  description?: unknown;
  /** `2026-12-31`, or empty for none. */
  dueOn?: unknown;
}

/** Open milestones by due date, those without a date last; then closed ones, last closed first. */
export async function listMilestones(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  which: 'open' | 'closed' | 'all' = 'all',
): Promise<Milestone[]> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  // A thousand at most.
  const rows = await deps.db.read.findBy(milestoneSchema, { repositoryId: repository.id });
  const key = ({ dueOn, titleFolded }: Milestone): string => `${dueOn ?? '9999-12-31'} ${titleFolded}`;
  const open = rows.filter(({ closedAt }) => closedAt === null).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const closed = rows.filter(({ closedAt }) => closedAt !== null).sort((a, b) => b.closedAt! - a.closedAt!);
  return which === 'open' ? open : which === 'closed' ? closed : [...open, ...closed];
}

/** Throws `milestone_not_found`. */
export async function findMilestone(deps: IssueDeps, viewer: Viewer, at: RepositoryAt, id: string): Promise<Milestone> {
  const { repository } = await findRepositoryContext(deps, viewer, at);
  const row = await deps.db.read.findOneBy(milestoneSchema, { id, repositoryId: repository.id });
  if (row === null) throw milestoneNotFound();
  return row;
}

/** Throws `milestone_taken`, `invalid_date`, `too_many_milestones`, and permission errors. */
export async function addMilestone(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  fields: MilestoneFields,
): Promise<Milestone> {
  const parsed = parseMilestone(fields);
  return inRepository(deps, viewer, at, async ({ manager, now }, repositoryId) => {
    if ((await manager.countBy(milestoneSchema, { repositoryId })) >= limits.milestonesPerRepository)
      throw invalid(
        'too_many_milestones',
        `A repository can have at most ${limits.milestonesPerRepository} milestones.`,
      );
    const counts = { closedAt: null, openCount: 0, closedCount: 0 };
    const milestone = { id: deps.random.uuid(), repositoryId, ...parsed, ...counts, createdAt: now };
    await manager.insert(milestoneSchema, milestone);
    return milestone;
  });
}

export async function editMilestone(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  id: string,
  fields: MilestoneFields,
): Promise<void> {
  const parsed = parseMilestone(fields);
  await inRepository(deps, viewer, at, async ({ manager }, repositoryId) => {
    const { affected } = await manager.update(milestoneSchema, { id, repositoryId }, parsed);
    if (affected === 0) throw milestoneNotFound();
  });
}

/** Its issues stay unchanged. */
export async function setMilestoneClosed(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  id: string,
  isClosed: boolean,
): Promise<void> {
  await inRepository(deps, viewer, at, async ({ manager, now }, repositoryId) => {
    const found = await manager.findOneBy(milestoneSchema, { id, repositoryId });
    if (found === null) throw milestoneNotFound();
    if ((found.closedAt !== null) !== isClosed)
      await manager.update(milestoneSchema, { id }, { closedAt: isClosed ? now : null });
  });
}

/** Its issues then have no milestone. */
export async function deleteMilestone(deps: IssueDeps, viewer: Viewer, at: RepositoryAt, id: string): Promise<void> {
  await inRepository(deps, viewer, at, async ({ manager }, repositoryId) => {
    const { affected } = await manager.delete(milestoneSchema, { id, repositoryId });
    if (affected === 0) throw milestoneNotFound();
  });
}

async function inRepository<T>(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  work: (tx: Tx, repositoryId: string) => Promise<T>,
): Promise<T> {
  const { repository } = await findRepositoryContext(deps, viewer, at, 'triage');
  try {
    return await deps.db.write(async (tx) => {
      const context = await repositoryInWrite(deps, tx, viewer, repository.id);
      refuse(refusalInRepository(viewer, context.facts, 'triage'));
      return work(tx, repository.id);
    });
  } catch (error) {
    if (isUniqueViolation(error, 'milestones_title'))
      throw conflict('milestone_taken', 'A milestone with this title already exists.', { field: 'title' });
    throw error;
  }
}

function parseMilestone({ title: givenTitle, description = '', dueOn = '' }: MilestoneFields) {
  const rule = { field: 'title', called: 'The title', maxCharacters: limits.milestoneTitleCharacters };
  const title = parseText(givenTitle, rule);
  // A quote would end it in a filter.
  if (title === '' || title.includes('"'))
    throw invalid('invalid_milestone_title', 'Enter a milestone title without quotes.', { field: 'title' });
  return {
    title,
    titleFolded: foldName(title),
    description: parseText(description, {
      field: 'description',
      called: 'The description',
      maxCharacters: limits.descriptionCharacters,
      manyLines: true,
    }),
    dueOn: parseDate(dueOn),
  };
}

/** Null for none. Throws `invalid_date`. */
export function parseDate(value: unknown): string | null {
  if (value === '' || value === null || value === undefined) return null;
  const date = new Date(`${String(value)}T00:00:00Z`);
  // 2026-02-31 would become another date.
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== value)
    throw invalid('invalid_date', 'Enter the date as YYYY-MM-DD.', { field: 'due_on' });
  return value;
}

const milestoneNotFound = () => notFound('milestone_not_found', 'Milestone not found');
