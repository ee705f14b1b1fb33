import { In } from 'typeorm';
import { personViewer, repositoryLevel } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import type { IssueContext } from '../issue-context.ts';
import type { Issue } from '../schema/issue-schema.ts';
import type { Repository } from '../../repositories/index.ts';
import { limits } from '../limits.ts';
import { subscribeOnce } from '../subscribe.ts';
import { assigneeSchema } from '../schema/participation-schema.ts';

/** Resolves users by username, before the transaction. Throws `unknown_assignee`. */
export async function resolveAssignees(
  deps: Pick<IssueDeps, 'owners'>,
  usernames: readonly string[],
): Promise<string[]> {
  const found = new Set<string>();
  for (const username of usernames) {
    const owner = await deps.owners.resolve(username);
    if (owner?.kind !== 'user') throw unknownAssignee();
    found.add(owner.id);
    if (found.size > limits.assigneesPerIssue) throw tooMany();
  }
  return [...found];
}

/** Assignee changes of an issue, by UUID. */
type AssigneeChange = { set: readonly string[] } | { add?: readonly string[]; remove?: readonly string[] };

/**
 * Changes the assignees of an issue: anyone who can read the repository. Removed assignees may have lost their access.
 * Throws `unknown_assignee`, `too_many_assignees`.
 */
export async function assign(
  deps: Pick<IssueDeps, 'repositories'>,
  log: EntryLog,
  { issue, repository }: Pick<IssueContext, 'issue' | 'repository'>,
  change: AssigneeChange,
): Promise<void> {
  const present = (await log.tx.manager.findBy(assigneeSchema, { issueId: issue.id })).map(({ userId }) => userId);
  const kept = 'set' in change ? present.filter((id) => change.set.includes(id)) : present;
  const added = 'set' in change ? change.set : (change.add ?? []);
  const removed = 'set' in change ? [] : (change.remove ?? []);
  for (const userId of added)
    if (!present.includes(userId) && !(await mayRead(deps, log, repository, userId))) throw unknownAssignee();
  const wanted = [...new Set([...kept.filter((id) => !removed.includes(id)), ...added])];
  if (wanted.length > limits.assigneesPerIssue) throw tooMany();
  await changeAssignees(log, issue, present, wanted);
}

async function changeAssignees(
  log: EntryLog,
  issue: Issue,
  present: readonly string[],
  wanted: readonly string[],
): Promise<void> {
  const { manager } = log.tx;
  const gone = present.filter((id) => !wanted.includes(id));
  const added = wanted.filter((id) => !present.includes(id));
  if (gone.length > 0) {
    await manager.delete(assigneeSchema, { issueId: issue.id, userId: In(gone) });
    await log.append(issue, { kind: 'unassigned', details: { users: gone } });
  }
  if (added.length > 0) {
    await manager.insert(
      assigneeSchema,
      added.map((userId) => ({ issueId: issue.id, userId })),
    );
    for (const userId of added) await subscribeOnce(log.tx, issue.id, userId, 'assigned');
    await log.append(issue, { kind: 'assigned', details: { users: added } });
  }
}

async function mayRead(
  { repositories }: Pick<IssueDeps, 'repositories'>,
  { tx }: EntryLog,
  repository: Repository,
  userId: string,
): Promise<boolean> {
  const facts = await repositories.factsOf(userId, repository, tx.manager);
  return repositoryLevel(personViewer(userId, 'read'), facts) !== 'none';
}

const unknownAssignee = () =>
  invalid('unknown_assignee', 'Only people with read access to this repository can be assigned.', {
    field: 'assignees',
  });
const tooMany = () =>
  invalid('too_many_assignees', `An issue can have at most ${limits.assigneesPerIssue} assignees.`, {
    field: 'assignees',
  });
