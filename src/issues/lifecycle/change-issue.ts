import type { Viewer } from '../../access/index.ts';
import { invalid, isRefusal } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { assign, resolveAssignees } from '../assignees/set-assignees.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import type { IssueAt, IssueContext } from '../issue-context.ts';
import { addAndRemoveLabels, setLabels } from '../labels/set-labels.ts';
import { limits } from '../limits.ts';
import { parseTitle } from '../parse-texts.ts';
import { setMilestone } from '../milestones/set-milestone.ts';
import { withIssueWrite } from '../with-issue-write.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { CloseReason, Issue } from '../schema/issue-schema.ts';
import { checkCloseReason, close, reopen } from './change-state.ts';
import { checkPlan, plan } from './plan-issue.ts';

/** Changes the title. The log keeps the previous one. */
export function setTitle(deps: IssueDeps, viewer: Viewer, at: IssueAt, given: unknown): Promise<Issue> {
  const title = parseTitle(given);
  return withIssueWrite(deps, viewer, at, 'edit_issue', async (log, { issue }) => {
    await retitle(log, issue, title);
    return issue;
  });
}

/** Runs in a transaction that has checked access. */
export async function retitle(log: EntryLog, issue: Issue, title: string): Promise<void> {
  if (issue.title === title) return;
  const before = issue.title;
  await log.tx.manager.update(issueSchema, { id: issue.id }, { title });
  issue.title = title;
  await log.append(issue, { kind: 'titled', details: { from: before, to: title } });
}

/** Changes to one or many issues at once; omitted fields stay. */
export interface IssueChange {
  /** All labels by name, or those to add and remove. */
  labels?: readonly string[] | { add?: readonly string[]; remove?: readonly string[] };
  /** Usernames. */
  assignees?: readonly string[] | { add?: readonly string[]; remove?: readonly string[] };
  /** A title; null removes the issue from its milestone. */
  milestone?: string | null;
  isLocked?: boolean;
  isPinned?: boolean;
  /** Position among the pinned issues, from 1; one after the last means the last. */
  pinPosition?: number;
  /** A date, `YYYY-MM-DD`; null or empty for none. */
  dueOn?: string | null;
  /** A related branch or tag; empty for none. */
  ref?: string;
  state?: 'open' | CloseReason;
}

/**
 * Triage of an issue by users with write access: label, assign, set the milestone, lock, pin, close and reopen, in one
 * transaction. Throws `unknown_label`, `unknown_assignee`, `unknown_milestone`, `too_many_pins` and limits of numbers.
 */
export async function triage(deps: IssueDeps, viewer: Viewer, at: IssueAt, change: IssueChange): Promise<Issue> {
  const resolved = await resolveChange(deps, change);
  return withIssueWrite(deps, viewer, at, 'triage', (log, context) => apply(deps, log, context, resolved));
}

/**
 * The same for many issues of a repository, each in its own transaction; skips issues that cannot be changed.
 * @returns the numbers that were changed
 */
export async function triageMany(
  deps: IssueDeps,
  viewer: Viewer,
  at: { owner: string; name: string; numbers: readonly number[] },
  change: IssueChange,
): Promise<number[]> {
  const { changed, refused } = await changeMany(deps, viewer, at, change);
  if (changed.length === 0 && refused.length > 0) throw refused.at(-1)!.error;
  return changed;
}

/** Results of a change of many issues, in the given order. */
interface ManyChanged {
  changed: number[];
  /** With a message that is safe to show. */
  refused: { number: number; message: string; error: DomainError }[];
}

/** The same, with the error of each issue. Throws `too_many_issues`. */
export async function changeMany(
  deps: IssueDeps,
  viewer: Viewer,
  at: { owner: string; name: string; numbers: readonly number[] },
  change: IssueChange,
): Promise<ManyChanged> {
  if (at.numbers.length > limits.issuesPerBulk)
    throw invalid('too_many_issues', `At most ${limits.issuesPerBulk} issues can be changed at a time.`);
  const { owner, name } = at;
  const result: ManyChanged = { changed: [], refused: [] };
  for (const number of new Set(at.numbers)) {
    try {
      await triage(deps, viewer, { owner, name, number }, change);
      result.changed.push(number);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      result.refused.push({ number, message: error.message, error });
    }
  }
  return result;
}

interface ResolvedChange extends Omit<IssueChange, 'assignees'> {
  assignees?: Parameters<typeof assign>[3];
}

/** Resolves the users of a change, before the transaction. Throws `unknown_assignee`. */
export async function resolveChange(deps: IssueDeps, { assignees, ...rest }: IssueChange): Promise<ResolvedChange> {
  if (rest.state !== undefined && rest.state !== 'open') checkCloseReason(rest.state);
  checkPlan(rest);
  if (assignees === undefined) return rest;
  if (isList(assignees)) return { ...rest, assignees: { set: await resolveAssignees(deps, assignees) } };
  const [add, remove] = [
    await resolveAssignees(deps, assignees.add ?? []),
    await resolveAssignees(deps, assignees.remove ?? []),
  ];
  return { ...rest, assignees: { add, remove } };
}

/** Runs in a transaction that has checked access. */
export async function apply(
  deps: IssueDeps,
  log: EntryLog,
  context: IssueContext,
  change: ResolvedChange,
): Promise<Issue> {
  const { issue } = context;
  const { labels, assignees, milestone, isLocked, isPinned, state } = change;
  if (labels !== undefined)
    await (isList(labels) ? setLabels(log, context, labels) : addAndRemoveLabels(log, context, labels));
  if (assignees !== undefined) await assign(deps, log, context, assignees);
  if (milestone !== undefined) await setMilestone(log, context, milestone);
  if (change.dueOn !== undefined || change.ref !== undefined) await plan(log, issue, change);
  if (isLocked !== undefined) await mark(log, issue, 'lockedAt', isLocked);
  if (isPinned !== undefined) {
    if (isPinned) await refuseManyPins(log, issue);
    await mark(log, issue, 'pinnedAt', isPinned);
  }
  if (change.pinPosition !== undefined) await movePin(log, issue, change.pinPosition);
  if (state === 'open') await reopen(deps, log, issue);
  else if (state !== undefined) await close(log, issue, state);
  return issue;
}

const isList = (value: readonly string[] | object): value is readonly string[] => Array.isArray(value);

async function mark(log: EntryLog, issue: Issue, column: 'lockedAt' | 'pinnedAt', isOn: boolean): Promise<void> {
  if ((issue[column] !== null) === isOn) return;
  const change = { [column]: isOn ? log.tx.now : null };
  await log.tx.manager.update(issueSchema, { id: issue.id }, change);
  Object.assign(issue, change);
  const kind = column === 'lockedAt' ? (isOn ? 'locked' : 'unlocked') : isOn ? 'pinned' : 'unpinned';
  await log.append(issue, { kind });
}

/** Pins are sorted by time; the times are reassigned. */
async function movePin({ tx: { manager } }: EntryLog, { id, repositoryId, kind }: Issue, position: number) {
  const some = await manager
    .createQueryBuilder(issueSchema, 'i')
    .where('i.repository_id = :repositoryId AND i.pinned_at IS NOT NULL AND i.deleted_at IS NULL', { repositoryId })
    .getMany();
  const pinned = some.filter((each) => each.kind === kind).sort((a, b) => a.pinnedAt! - b.pinnedAt!);
  const moved = pinned.find((each) => each.id === id);
  if (moved === undefined) throw invalid('issue_not_pinned', 'This is not pinned.', { field: 'position' });
  const order = pinned.filter((each) => each !== moved);
  order.splice(Math.max(position, 1) - 1, 0, moved);
  let last = 0;
  for (const [place, each] of order.entries()) {
    last = Math.max(pinned[place]!.pinnedAt!, last + 1);
    await manager.update(issueSchema, { id: each.id }, { pinnedAt: last });
  }
}

async function refuseManyPins({ tx }: EntryLog, { repositoryId, pinnedAt }: Issue): Promise<void> {
  const [row]: { n: number }[] = await tx.manager.query(
    'SELECT count(*) AS n FROM issues WHERE repository_id = ? AND pinned_at IS NOT NULL AND deleted_at IS NULL',
    [repositoryId],
  );
  if (pinnedAt === null && Number(row!.n) >= limits.pinsPerRepository)
    throw invalid('too_many_pins', `At most ${limits.pinsPerRepository} issues can be pinned.`);
}
