import { isByTask } from '../../issues/index.ts';
import type { EntryListener, Issue } from '../../issues/index.ts';
import type { PullCode } from '../../pulls/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { AfterCommit } from '../runs/after-commit.ts';
import { follow } from '../runs/change-runs.ts';
import { deletedUserName } from '../load-run.ts';
import { asksForNoRun } from '../runs/push-event.ts';
import { earlyChecks, startRun } from '../runs/start-run.ts';
import type { NewRun, RunSource } from '../runs/start-run.ts';
import { enabledWorkflows } from '../settings/repository-settings.ts';
import { takesAction } from '../workflows/match-pull.ts';
import type { PullAction } from '../workflows/match-pull.ts';
import type { PullTrigger, Workflow } from '../workflows/workflow.ts';
import { withCalledFiles } from '../workflows/read-called-files.ts';
import type { RunnableWorkflow } from '../workflows/read-called-files.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';
import { pullPayload, titleOfPullRun } from './pull-event.ts';
import type { PullRunDeps } from '../ports/pull-deps.ts';
import { changesWorkflows, trustOfPull } from './trust.ts';
import type { TrialMerge } from './trust.ts';
import { cancelRunsAwaitingApproval, mergeRefOf, runsAwaitingApproval } from './runs-awaiting-approval.ts';

interface StartedRuns {
  surroundings: RunSource;
  runs: NewRun[];
  /** Checks of jobs that the filters of their workflows exclude. */
  skipped: SkippedChecks;
}

type SkippedChecks = Parameters<PullRunDeps['pulls']['recordSkippedChecks']>[1];

interface Prepared {
  /** Null for an entry that only ends waiting runs. */
  started: StartedRuns | null;
  /** Why all runs waiting for approval end; null if only runs of the same workflows end. */
  over: string | null;
  after: AfterCommit;
}

/** Activity types of entries for workflows. */
const actions = new Map<string, PullAction>([
  ['opened', 'opened'],
  ['round', 'synchronize'],
  ['reopened', 'reopened'],
  ['ready', 'ready_for_review'],
]);

/** Entries that end all runs of a pull request waiting for approval. */
const endings = new Map([
  ['round', 'The pull request has new commits.'],
  ['closed', 'The pull request was closed.'],
  ['merged', 'The pull request was merged.'],
]);

const maxChangedPaths = 1000;
/** Limit of excluded checks per head. */
const maxSkipped = 500;

/**
 * Starts workflows for a pull request: tests the head, merged into the base branch as `refs/pull/<number>/merge`, with
 * the workflow files of that merge. Code of users with write access is as trusted as their pushes. Code of other users
 * and of forks runs without secrets, and usually only after the approval of a user with write access. A pull request
 * with conflicts starts nothing, because there is no merge to test.
 */
export function runOnPulls(deps: CiDeps, sources: PullRunDeps): EntryListener<Prepared> {
  return {
    name: 'ci',
    async prepare({ repository, issue, entry }) {
      if (issue.kind !== 'PULL') return null;
      const place = { repositoryId: repository.id, number: issue.number };
      const over = endings.get(entry.kind) ?? null;
      const started = await startedBy(deps, sources, { issue, entry });
      if (started === null && (over === null || (await runsAwaitingApproval(deps.db.read, place)).length === 0))
        return null;
      return { started, over, after: new AfterCommit() };
    },
    async record(tx, { repository, issue }, { started, over, after }) {
      const place = { repositoryId: repository.id, number: issue.number };
      const replaced = started?.runs.map(({ workflowPath }) => workflowPath) ?? [];
      await cancelRunsAwaitingApproval(deps, tx, after, place, {
        reason: over ?? 'A newer run of this workflow was started.',
        paths: over === null ? replaced : null,
      });
      for (const run of started?.runs ?? []) await startRun(deps, tx, after, started!.surroundings, run);
      if (started !== null) await sources.pulls.recordSkippedChecks(tx, started.skipped);
    },
    async recorded(_entry, { started, after }) {
      // It may have been the last missing check.
      if (started !== null && started.skipped.contexts.length > 0) sources.pulls.reconsider([started.skipped.issueId]);
      if (after.mayHaveWork) await deps.queue.wake();
      after.mayHaveWork = false;
      void follow(deps, after);
    },
  };
}

type Announced = Pick<Parameters<NonNullable<EntryListener['prepare']>>[0], 'issue' | 'entry'>;

/** The runs that an entry starts; null for none. */
async function startedBy(deps: CiDeps, sources: PullRunDeps, { issue, entry }: Announced): Promise<StartedRuns | null> {
  const action = actions.get(entry.kind);
  if (action === undefined || isByTask(entry) || issue.state !== 'OPEN' || issue.heldAt !== null) return null;
  const located = (await deps.repositories.locate([issue.repositoryId])).get(issue.repositoryId);
  const code = await sources.pulls.codeOf(issue.id);
  if (located === undefined || code === null || isOver(action, entry.details['headOid'], code)) return null;
  return prepare(deps, sources, { located, issue, code, action, actorId: entry.authorId, at: entry.createdAt });
}

/** Whether an entry for a later round follows. */
const isOver = (action: PullAction, headOid: unknown, { round }: PullCode): boolean =>
  action === 'opened' ? round.round > 1 : action === 'synchronize' && headOid !== round.headOid;

interface PullChange {
  located: Located;
  issue: Issue;
  code: PullCode;
  action: PullAction;
  actorId: string | null;
  /** Time of the event, so that a retry creates the same merge commit. */
  at: number;
}

async function prepare(deps: CiDeps, sources: PullRunDeps, change: PullChange): Promise<StartedRuns | null> {
  const { located, issue, code, action, actorId } = change;
  const { git } = deps;
  const { path, repository, owner } = located;
  const { pull, round } = code;
  const head = await git.objects.commit(path, round.headOid);
  if (asksForNoRun(head.message)) return null;
  const baseTip = await git.refs.tip(path, `refs/heads/${pull.baseBranch}`);
  const mergeOid = baseTip === null ? null : await mergeForTest(deps, sources, change, baseTip);
  if (baseTip === null || mergeOid === null) return null;
  const merge = { baseTip, mergeOid };
  const { matching, leftOut } = await matchingWorkflows(deps, change, merge);
  if (matching.length + leftOut.length === 0) return null;
  const trust = await trustOfPull(deps, sources, located, issue.number, code, merge);
  await git.refs.setPull(path, issue.number, 'merge', mergeOid);
  // Users without write access cannot skip a check by changing its workflow.
  const skips = trust === 'trusted' || (leftOut.length > 0 && !(await changesWorkflows(git, path, merge)));
  const contexts = skips ? leftOut.flatMap((one) => earlyChecks(one, 'pull_request')).slice(0, maxSkipped) : [];
  const ids = [issue.authorId, actorId].filter((id) => id !== null);
  const people = await deps.accounts.peopleById(ids);
  const nameOf = (id: string | null): string => (id === null ? null : people.get(id)?.username) ?? deletedUserName;
  const body = await sources.issues.pulls.textOf(issue.id);
  const [author, actor] = [nameOf(issue.authorId), nameOf(actorId)];
  const event = { action, issue, body, code, mergeOid, baseTip, author, actor };
  const eventPayload = pullPayload(event, located, deps.settings.baseUrl);
  const isProtected = await deps.repositories.rules.protectedRefs(repository);
  return {
    surroundings: { repository, owner, actor, isProtected },
    skipped: { issueId: issue.id, headOid: round.headOid, baseBranch: pull.baseBranch, contexts },
    runs: matching.map(({ path: workflowPath, folder: workflowFolder, content, parsed }) => ({
      workflowPath,
      workflowFolder,
      content,
      parsed,
      event: 'pull_request',
      eventPayload,
      ref: mergeRefOf(issue.number),
      sha: mergeOid,
      isTrusted: trust === 'trusted',
      approval: trust === 'waits' ? 'waiting' : null,
      actorId,
      title: titleOfPullRun(issue, head),
    })),
  };
}

/** Creates the merge commit to be tested; null if it cannot be merged. */
async function mergeForTest(
  { git, accounts, logger }: CiDeps,
  { pulls }: PullRunDeps,
  { located, issue, code, at }: PullChange,
  baseTip: string,
): Promise<string | null> {
  const { headOid } = code.round;
  const server = { ...accounts.addresses.serverIdentity, at, offsetMinutes: 0 };
  const outcome = await git.merges.merge(located.path, {
    style: 'MERGE',
    onto: baseTip,
    head: headOid,
    base: await pulls.mergeBaseOf(located.path, code.pull, baseTip),
    message: `Merge ${headOid} into ${baseTip}\n`,
    author: server,
    committer: server,
  });
  if (outcome.kind === 'merged') return outcome.oid;
  logger.info('ci.pull_not_run', { repositoryId: issue.repositoryId, number: issue.number, why: outcome.kind });
  return null;
}

/**
 * Workflows of the merge that this event starts, and those that only their filters exclude. A broken file counts only
 * if it is known to name pull requests.
 */
async function matchingWorkflows(
  deps: CiDeps,
  { located: { path, repository }, code, action, actorId }: PullChange,
  { baseTip, mergeOid }: TrialMerge,
): Promise<{ matching: RunnableWorkflow[]; leftOut: Workflow[] }> {
  const found: (RunnableWorkflow & { trigger: PullTrigger })[] = [];
  for (const file of await enabledWorkflows(deps, { repositoryId: repository.id, path }, mergeOid)) {
    const parsed = await deps.workflows.read(sourceOf(file, repository.id));
    const trigger = (parsed.ok ? parsed.workflow.triggers : parsed.triggers)?.pull ?? null;
    if (trigger !== null && takesAction(trigger, action)) found.push({ ...file, parsed, trigger });
  }
  if (found.length === 0) return { matching: [], leftOut: [] };
  const changedPaths = found.some(({ trigger }) => trigger.paths !== null)
    ? await deps.git.objects.changedPaths(path, baseTip, mergeOid, { limit: maxChangedPaths }).catch(() => null)
    : null;
  const base = { kind: 'branch', name: code.pull.baseBranch, changedPaths } as const;
  const matching: RunnableWorkflow[] = [];
  const leftOut: Workflow[] = [];
  for (const {
    trigger: { branches, paths },
    ...one
  } of found)
    if (await deps.workflows.startsOn({ branches, tags: null, paths }, base, repository.id))
      matching.push(await withCalledFiles(deps, one, { actorId, client: repository.id }));
    else if (one.parsed.ok) leftOut.push(one.parsed.workflow);
  return { matching, leftOut };
}
