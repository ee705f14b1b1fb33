import { authorAssociation } from '../../access/index.ts';
import { isByTask } from '../../issues/index.ts';
import type { AnnouncedEntry, DescribedIssue, EntryListener, Issues } from '../../issues/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { AfterCommit } from '../runs/after-commit.ts';
import { follow } from '../runs/change-runs.ts';
import { planRuns } from '../runs/plan-event-runs.ts';
import type { PlannedRuns } from '../runs/plan-event-runs.ts';
import { startRun } from '../runs/start-run.ts';
import { runsWorkflows } from '../settings/repository-settings.ts';
import type { Json } from '../workflows/json-value.ts';
import { issueActs } from './issue-acts.ts';
import type { IssueAct } from './issue-acts.ts';
import { commentPayload, issuePage, issuePayload, labelPayload, userPayload } from './issue-event.ts';
import type { EventAuthor } from './issue-event.ts';

/** The module whose entries start runs; created later and passed to `onIssue`. */
export interface IssueRunDeps {
  issues: Pick<Issues, 'describe' | 'findEntry' | 'textBefore'>;
}

interface Prepared {
  planned: PlannedRuns[];
  after: AfterCommit;
}

/**
 * Starts the workflows of `issues` and `issue_comment`, from the head of the default branch. That code is the
 * repository's own, but scripts may quote the text or build the commented pull request, and so run code of its author.
 * So runs caused by users without write access are untrusted: they receive no secrets and a read-only token. Entries
 * made by a task start nothing, so that no workflow triggers itself forever; entries held for moderation start nothing
 * until a member approves them.
 */
export function runOnIssues(deps: CiDeps, sources: IssueRunDeps): EntryListener<Prepared> {
  return {
    name: 'ci_issues',
    async prepare(announced) {
      const { issue, entry } = announced;
      const acts = issueActs(announced);
      if (acts.length === 0 || isByTask(entry) || issue.heldAt !== null) return null;
      const planned = await planActs(deps, sources, announced, acts);
      return planned.length === 0 ? null : { planned, after: new AfterCommit() };
    },
    async record(tx, _entry, { planned, after }) {
      for (const { runs, surroundings } of planned)
        for (const run of runs) await startRun(deps, tx, after, surroundings, run);
    },
    async recorded(_entry, { after }) {
      if (after.mayHaveWork) await deps.queue.wake();
      after.mayHaveWork = false;
      void follow(deps, after);
    },
  };
}

async function planActs(
  deps: CiDeps,
  { issues }: IssueRunDeps,
  { repository, issue, entry }: AnnouncedEntry,
  acts: readonly IssueAct[],
): Promise<PlannedRuns[]> {
  if (!(await runsWorkflows(deps, repository.id))) return [];
  const located = (await deps.repositories.locate([repository.id])).get(repository.id);
  if (located === undefined) return [];
  const ref = `refs/heads/${located.repository.defaultBranch}`;
  const sha = await deps.git.refs.resolve(located.path, ref).catch(() => null);
  const [described] = sha === null ? [] : await issues.describe([issue]);
  if (sha === null || described === undefined) return [];
  const about = { located, described, entry };
  const actor = await eventAuthor(deps, located, entry);
  const planned: PlannedRuns[] = [];
  for (const act of acts) {
    const details = await payloadOf(deps, { issues }, about, act);
    if (details === null) continue;
    const { event, action } = act;
    const actorId = entry.authorId;
    const runs = await planRuns(deps, located, {
      ...{ event, action, details, ref, sha, actorId },
      isTrusted: actor.association !== 'NONE',
      title: described.title,
    });
    if (runs !== null) planned.push(runs);
  }
  return planned;
}

interface EventSubject {
  located: Located;
  described: DescribedIssue;
  entry: AnnouncedEntry['entry'];
}

/** Null if the comment was deleted or is the text of a review. */
async function payloadOf(
  deps: CiDeps,
  { issues }: IssueRunDeps,
  { located, described, entry }: EventSubject,
  act: IssueAct,
): Promise<{ [key: string]: Json } | null> {
  const { action, comment: position, label, milestone, assignee } = act;
  const page = issuePage(described, located, deps.settings.baseUrl);
  const authorOf = (written: Authorship) => eventAuthor(deps, located, written);
  const issue = issuePayload(described, await authorOf(described), page);
  const changes = await changesOf(issues, described, act);
  const common = { action, issue, ...(changes !== null && { changes }) };
  if (position !== undefined) {
    const found = position === entry.position ? entry : await issues.findEntry(described.id, position);
    if (found === null || found.kind !== 'comment') return null;
    return { ...common, comment: commentPayload(found, described, await authorOf(found), page) };
  }
  const known = label && described.labels.find(({ name }) => name === label.name);
  const person = assignee && (await deps.accounts.peopleById([assignee])).get(assignee);
  return {
    ...common,
    ...(label && { label: labelPayload(known ?? { ...label, description: '' }) }),
    ...(assignee && { assignee: userPayload(person || null) }),
    ...(milestone !== undefined && {
      milestone: described.milestone?.title === milestone ? issue['milestone']! : { title: milestone },
    }),
  };
}

/** The values replaced by an edit; null for other events. */
async function changesOf(
  issues: IssueRunDeps['issues'],
  { id }: DescribedIssue,
  { before }: IssueAct,
): Promise<{ [key: string]: Json } | null> {
  if (before === undefined) return null;
  if ('title' in before) return { title: { from: before.title } };
  return { body: { from: (await issues.textBefore(id, before)) ?? '' } };
}

type Authorship = Pick<DescribedIssue, 'authorId' | 'authorName'>;

async function eventAuthor(
  { accounts, repositories, db }: CiDeps,
  { repository }: Located,
  { authorId, authorName }: Authorship,
): Promise<EventAuthor> {
  if (authorId === null) return { person: null, name: authorName, association: 'NONE' };
  const facts = await repositories.factsOf(authorId, repository, db.lookup);
  const person = (await accounts.peopleById([authorId])).get(authorId) ?? null;
  return { person, name: authorName, association: authorAssociation(authorId, facts) };
}
