import { personIdOf, personViewer, refusalInRepository, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { assign, resolveAssignees } from '../assignees/set-assignees.ts';
import { writeEntries } from '../entries/write-entries.ts';
import type { EntryLog } from '../entries/write-entries.ts';
import { authorshipOf } from '../entry.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { contextFor, repositoryContext } from '../issue-context.ts';
import type { Repository } from '../../repositories/index.ts';
import { refuse } from '../issue-errors.ts';
import type { RepositoryAt, RepositoryContext } from '../issue-context.ts';
import { listLabels } from '../labels/manage-labels.ts';
import { setLabels } from '../labels/set-labels.ts';
import { limits } from '../limits.ts';
import { foldName, parseBody, parseTitle } from '../parse-texts.ts';
import { setMilestone } from '../milestones/set-milestone.ts';
import { chargeRateLimit, holdsContribution, recordHeld } from '../moderation/hold-newcomers.ts';
import { checkPlan, plan } from './plan-issue.ts';
import { nextNumber } from '../numbers/next-number.ts';
import { subscribeOnce } from '../subscribe.ts';
import { recordReferences, resolveReferences } from '../references/resolve-references.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { EntryVia } from '../schema/entry-schema.ts';
import type { Issue, IssueKind } from '../schema/issue-schema.ts';

export interface NewIssue {
  title: unknown;
  body?: unknown;
  /** Names. These three require permission to triage. */
  labels?: readonly string[];
  assignees?: readonly string[];
  /** A title. */
  milestone?: string | null;
  /** A date, `YYYY-MM-DD`, and a related branch or tag; both require permission to triage. */
  dueOn?: string | null;
  ref?: string;
  /** Defaults from a repository template, without triage permission; ignores unknown names. */
  template?: { labels: readonly string[]; assignees: readonly string[] } | null;
  /** Programs may repeat a text deliberately; a form sent twice is a duplicate. */
  mayRepeat?: boolean;
}

/** Turns an issue into a pull request, for the pull request module. */
export interface PullPart {
  /**
   * For an accepted push: permission was checked and the number allocated then. Later changes of permission do not undo
   * it, just as they do not undo a push to a branch.
   */
  taken: { number: number; repository: Repository } | null;
  via?: EntryVia;
  /** Writes its code, in the transaction that opens it. */
  record(log: EntryLog, issue: Issue): Promise<void>;
}

/**
 * Opens an issue. A duplicate within moments returns the existing one, unless repeats are allowed. Throws what
 * `parseTitle` and `parseBody` throw, and permission errors; `too_many_contributions`; `unknown_label`,
 * `unknown_assignee`, `unknown_milestone`; `not_allowed_on_issue` for labels by a user without triage permission.
 */
export async function openIssue(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  {
    title: givenTitle,
    body: givenBody = '',
    labels = [],
    assignees = [],
    milestone = null,
    dueOn = null,
    ref = '',
    template = null,
    mayRepeat = false,
  }: NewIssue,
  pull: PullPart | null = null,
): Promise<Issue> {
  const kind = pull === null ? 'ISSUE' : 'PULL';
  const title = parseTitle(givenTitle);
  const body = parseBody(givenBody);
  const taken = pull?.taken ?? null;
  const found =
    taken === null
      ? await findRepositoryContext(deps, viewer, at, 'contribute', kind)
      : contextFor(await repositoryContext(deps, deps.db.lookup, personIdOf(viewer), taken.repository), kind);
  const isPlanned = Boolean(dueOn) || ref !== '';
  if (isPlanned) checkPlan({ dueOn, ref });
  if (labels.length > 0 || assignees.length > 0 || milestone !== null || isPlanned)
    refuse(refusalInRepository(viewer, found.facts, 'triage'));
  const twin = pull !== null || mayRepeat ? null : await sameIssue(deps, viewer, found.repository.id, title, body);
  if (twin !== null) return twin;
  // An accepted push was already counted.
  if (taken === null) chargeRateLimit(deps, viewer, found);
  const references = await resolveReferences(deps, viewer, found.repository, body);
  const fitting = await fittingTemplate(deps, viewer, at, found, template);
  const assigned = [...new Set([...(await resolveAssignees(deps, assignees)), ...fitting.assignees])];
  const labelled = [...labels, ...fitting.labels];
  const opened = await writeEntries(deps, viewer, async (log) => {
    const context = contextFor(await repositoryInWrite(deps, log.tx, viewer, found.repository.id), kind);
    if (taken === null) refuse(refusalInRepository(viewer, context.facts, 'contribute'), kind);
    const isHeld = await holdsContribution(log.tx, viewer, context);
    const number = taken?.number ?? null;
    const issue = await insertIssue(deps, log, viewer, context, { title, isHeld, kind, number });
    await log.append(issue, { kind: 'opened', body, isHeld, ...(pull?.via === undefined ? {} : { via: pull.via }) });
    await pull?.record(log, issue);
    await subscribeOnce(log.tx, issue.id, personIdOf(viewer), 'author');
    if (isHeld) await recordHeld(log, issue, 0, viewer);
    else await recordReferences(deps, log, viewer, { issue, repository: context.repository, position: 0 }, references);
    if (labelled.length > 0) await setLabels(log, { ...context, issue }, labelled);
    if (assigned.length > 0) await assign(deps, log, { ...context, issue }, { set: assigned });
    if (milestone !== null) await setMilestone(log, { ...context, issue }, milestone);
    if (isPlanned) await plan(log, issue, { dueOn, ref });
    return issue;
  });
  deps.textWritten({ repositoryId: found.repository.id, body });
  return opened;
}

/** From a template: existing labels, and users who can read the repository. */
async function fittingTemplate(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { repository }: RepositoryContext,
  template: NonNullable<NewIssue['template']> | null,
): Promise<{ labels: string[]; assignees: string[] }> {
  if (template === null) return { labels: [], assignees: [] };
  const names =
    template.labels.length === 0 ? [] : (await listLabels(deps, viewer, at)).map((label) => label.nameFolded);
  const assignees: string[] = [];
  for (const username of template.assignees.slice(0, limits.assigneesPerIssue)) {
    const owner = await deps.owners.resolve(username);
    if (owner?.kind !== 'user') continue;
    const facts = await deps.repositories.factsOf(owner.id, repository, deps.db.lookup);
    if (repositoryLevel(personViewer(owner.id, 'read'), facts) !== 'none') assignees.push(owner.id);
  }
  return { labels: template.labels.filter((name) => names.includes(foldName(name))), assignees };
}

async function insertIssue(
  deps: IssueDeps,
  { tx }: EntryLog,
  viewer: Viewer,
  { repository }: RepositoryContext,
  { title, isHeld, kind, number }: { title: string; isHeld: boolean; kind: IssueKind; number: number | null },
): Promise<Issue> {
  const issue: Issue = {
    id: deps.random.uuid(),
    repositoryId: repository.id,
    number: number ?? (await nextNumber(tx, repository.id)),
    kind,
    title,
    ...authorshipOf(viewer),
    state: 'OPEN',
    closeReason: null,
    milestoneId: null,
    dueOn: null,
    ref: '',
    lockedAt: null,
    pinnedAt: null,
    heldAt: isHeld ? tx.now : null,
    lastPosition: 0,
    commentCount: 0,
    origin: null,
    createdAt: tx.now,
    updatedAt: tx.now,
    closedAt: null,
    deletedAt: null,
    deletedBy: null,
  };
  await tx.manager.insert(issueSchema, issue);
  return issue;
}

async function sameIssue(
  { db, clock }: IssueDeps,
  viewer: Viewer,
  repositoryId: string,
  title: string,
  body: string,
): Promise<Issue | null> {
  const personId = personIdOf(viewer);
  if (personId === null) return null;
  return db.read
    .createQueryBuilder(issueSchema, 'i')
    .innerJoin('issue_entries', 'e', 'e.issue_id = i.id AND e.position = 0')
    .where('i.repository_id = :repositoryId AND i.deleted_at IS NULL', { repositoryId })
    .andWhere('i.number > (SELECT n.last - 10 FROM issue_numbers n WHERE n.repository_id = :repositoryId)')
    .andWhere('i.author_id = :personId AND i.created_at > :since', { personId, since: clock.now() - limits.sameFormMs })
    .andWhere('i.title = :title AND e.body = :body', { title, body })
    .getOne();
}
