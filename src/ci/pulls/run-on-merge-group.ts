import type { Candidate, CandidateTests } from '../../pulls/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { isFinal } from '../run-status.ts';
import { AfterCommit } from '../runs/after-commit.ts';
import { cancelJobs } from '../runs/cancel-jobs.ts';
import { changeRuns, follow } from '../runs/change-runs.ts';
import { deletedUserName } from '../load-run.ts';
import { repositoryPayload } from '../runs/push-event.ts';
import { RunChanges } from '../runs/run-changes.ts';
import { startRun } from '../runs/start-run.ts';
import type { NewRun, RunSource } from '../runs/start-run.ts';
import { runSchema } from '../schema/run-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { EventName } from '../workflows/workflow.ts';
import { findWorkflows } from '../workflows/find-workflows.ts';
import type { Json } from '../workflows/json-value.ts';
import { withCalledFiles } from '../workflows/read-called-files.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';
import { mergeRefOf } from './runs-awaiting-approval.ts';

interface Prepared {
  surroundings: RunSource;
  runs: NewRun[];
  after: AfterCommit;
}

const event: EventName = 'merge_group';

/**
 * Tests the candidate commits of a merge queue with their workflows that name `merge_group`. Such runs are as trusted
 * as a push to the branch, because a user with permission to merge has queued the pull requests.
 */
export function runOnMergeGroups(deps: CiDeps): CandidateTests<Prepared> {
  const runsOf = (repositoryId: string, number: number, sha: string): Promise<RunRow[]> =>
    deps.db.read.find(runSchema, {
      where: { repositoryId, ref: mergeRefOf(number), sha, event },
      order: { id: 'ASC' },
    });
  return {
    prepare: (candidate) => prepare(deps, candidate),
    async record(tx, { surroundings, runs, after }) {
      for (const run of runs) await startRun(deps, tx, after, surroundings, run);
      return runs.length;
    },
    recorded({ after }) {
      if (after.mayHaveWork) void deps.queue.wake();
      after.mayHaveWork = false;
      void follow(deps, after);
    },
    async outcome({ repositoryId, number, oid }) {
      const runs = await runsOf(repositoryId, number, oid);
      const failed = runs.find(({ status }) => isFinal(status) && status !== 'success' && status !== 'skipped');
      const isRunning = runs.some(({ status }) => !isFinal(status));
      const state = failed !== undefined ? 'failure' : isRunning ? 'running' : 'success';
      return { runs: runs.length, state, failed: failed?.number ?? null };
    },
    async cancel({ repositoryId, number, oid }, reason) {
      const running = (await runsOf(repositoryId, number, oid)).filter(({ status }) => !isFinal(status));
      if (running.length === 0) return;
      await changeRuns(deps, async (tx, after) => {
        for (const { id } of running) {
          const runChanges = await RunChanges.open(deps, tx, after, id);
          if (runChanges !== null) await cancelJobs(deps, tx, runChanges, { reason });
        }
      });
    },
  };
}

async function prepare(deps: CiDeps, candidate: Candidate): Promise<Prepared | null> {
  const { located, issue, baseBranch, oid, addedBy } = candidate;
  const { repository, owner, path } = located;
  const base = { kind: 'branch', name: baseBranch, changedPaths: null } as const;
  const matching: Pick<NewRun, 'workflowPath' | 'workflowFolder' | 'content' | 'parsed'>[] = [];
  for (const file of await findWorkflows(deps.git, path, oid)) {
    const parsed = await deps.workflows.read(sourceOf(file, repository.id));
    const trigger = (parsed.ok ? parsed.workflow.triggers : parsed.triggers)?.mergeGroup ?? null;
    if (trigger === null) continue;
    const { branches } = trigger;
    if (!(await deps.workflows.startsOn({ branches, tags: null, paths: null }, base, repository.id))) continue;
    const whose = { actorId: addedBy, client: repository.id };
    const complete = await withCalledFiles(deps, { ...file, parsed }, whose);
    const { path: workflowPath, folder: workflowFolder, content } = complete;
    matching.push({ workflowPath, workflowFolder, content, parsed: complete.parsed });
  }
  if (matching.length === 0) return null;
  const people = await deps.accounts.peopleById(addedBy === null ? [] : [addedBy]);
  const actor = (addedBy === null ? null : people.get(addedBy)?.username) ?? deletedUserName;
  const eventPayload = await mergeGroupPayload(deps, candidate, located, actor);
  const isProtected = await deps.repositories.rules.protectedRefs(repository);
  return {
    surroundings: { repository, owner, actor, isProtected },
    runs: matching.map((one) => ({
      ...one,
      event,
      eventPayload,
      ref: mergeRefOf(issue.number),
      sha: oid,
      isTrusted: true,
      approval: null,
      actorId: addedBy,
      title: `Merge queue: ${issue.title} (#${issue.number})`,
    })),
    after: new AfterCommit(),
  };
}

/** Event payload that workflows read as `github.event`; names and shapes are those of other forges. */
async function mergeGroupPayload(
  deps: CiDeps,
  { issue, baseBranch, baseOid, oid }: Candidate,
  located: Located,
  actor: string,
): Promise<{ [key: string]: Json }> {
  const { message, author, committer, tree } = await deps.git.objects.commit(located.path, oid);
  const person = ({ name, email }: { name: string; email: string }): Json => ({ name, email });
  return {
    action: 'checks_requested',
    merge_group: {
      head_sha: oid,
      head_ref: mergeRefOf(issue.number),
      base_sha: baseOid,
      base_ref: `refs/heads/${baseBranch}`,
      head_commit: {
        id: oid,
        tree_id: tree,
        message: message.replace(/\n+$/, ''),
        timestamp: new Date(committer.at).toISOString(),
        author: person(author),
        committer: person(committer),
      },
    },
    repository: repositoryPayload(located, deps.settings.baseUrl),
    sender: { login: actor, username: actor, name: actor },
  };
}
