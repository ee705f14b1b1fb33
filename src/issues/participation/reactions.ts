import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue, issueInWrite } from '../find-issue.ts';
import { entryNotFound } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { insertOrIgnore } from '../insert-or-ignore.ts';
import { chargeRateLimit } from '../moderation/hold-newcomers.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { importedReactionSchema, reactionSchema } from '../schema/participation-schema.ts';
import type { ReactionKind } from '../schema/participation-schema.ts';

export const reactionKinds: readonly ReactionKind[] = [
  '+1',
  '-1',
  'laugh',
  'heart',
  'hooray',
  'confused',
  'rocket',
  'eyes',
];

/**
 * Adds the viewer's reaction to a text, or removes it. Not a log entry. Throws `invalid_reaction`, `entry_not_found`,
 * `too_many_contributions`, and permission errors.
 */
export async function react(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { position, kind, isOn }: { position: number; kind: ReactionKind; isOn: boolean },
): Promise<void> {
  if (!reactionKinds.includes(kind))
    throw invalid('invalid_reaction', 'This reaction does not exist.', { field: 'kind' });
  const found = await findIssue(deps, viewer, at);
  chargeRateLimit(deps, viewer, found);
  await deps.db.write(async (tx) => {
    const { issue } = await issueInWrite(deps, tx, viewer, found.issue, isOn ? 'contribute' : 'read');
    const userId = personIdOf(viewer);
    const entry = await tx.manager.findOneBy(entrySchema, { issueId: issue.id, position });
    if (userId === null || entry === null || entry.body === null || entry.heldAt !== null) throw entryNotFound();
    const row = { issueId: issue.id, position, userId, kind };
    if (isOn) await insertOrIgnore(tx, reactionSchema, row);
    else await tx.manager.delete(reactionSchema, row);
  });
}

/** Exceeds what a page shows individually. */
const mostListed = 1_000;

/** A reaction of an account, or of a remote person by name. */
interface ListedReaction {
  kind: ReactionKind;
  userId: string | null;
  person: string | null;
}

/** Reactions to a text, by user. Throws `entry_not_found`, also for held entries. */
export async function listReactions(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  position: number,
): Promise<ListedReaction[]> {
  const { issue } = await findIssue(deps, viewer, at);
  const entry = await deps.db.read.findOneBy(entrySchema, { issueId: issue.id, position });
  if (entry === null || entry.body === null || (entry.heldAt !== null && entry.authorId !== personIdOf(viewer)))
    throw entryNotFound();
  const where = { issueId: issue.id, position };
  const rows = await deps.db.read
    .createQueryBuilder(reactionSchema, 'r')
    .where('r.issue_id = :issueId AND r.position = :position', where)
    // Order of the primary key: needs no sort.
    .orderBy('r.kind')
    .addOrderBy('r.user_id')
    .limit(mostListed)
    .getMany();
  const imported = await deps.db.read
    .createQueryBuilder(importedReactionSchema, 'r')
    .where('r.issue_id = :issueId AND r.position = :position AND r.user_id IS NULL', where)
    .orderBy('r.kind')
    .addOrderBy('r.person')
    .limit(mostListed)
    .getMany();
  return [
    ...rows.map(({ kind, userId }) => ({ kind, userId, person: null })),
    ...imported.map(({ kind, person }) => ({ kind, userId: null, person })),
  ];
}
