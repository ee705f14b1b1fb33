import type { Commit } from '../../git/index.ts';
import { isBranchOrTag } from '../../kernel/index.ts';
import type { AnnouncedPush, Located, PushListener } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { enabledWorkflows } from '../settings/repository-settings.ts';
import type { WorkflowFile } from '../workflows/find-workflows.ts';
import type { PushedRef } from '../workflows/match-push.ts';
import type { ParsedWorkflow } from '../workflows/parse-workflow.ts';
import { withCalledFiles } from '../workflows/read-called-files.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';
import { AfterCommit } from './after-commit.ts';
import { follow } from './change-runs.ts';
import { deletedUserName } from '../load-run.ts';
import { runsOfRefEvent } from './ref-events.ts';
import { asksForNoRun, commitsOf, isNoRef, pushPayload } from './push-event.ts';
import type { MovedRef } from './push-event.ts';
import { readRef } from './run-context.ts';
import { planSchedules, saveSchedules } from './schedules.ts';
import type { PlannedSchedules } from './schedules.ts';
import { startRun } from './start-run.ts';
import type { NewRun, RunSource } from './start-run.ts';

interface Prepared {
  surroundings: RunSource;
  runs: NewRun[];
  schedules: PlannedSchedules | null;
  after: AfterCommit;
}

/** Limit of changed files that a `paths` filter checks; above it every filter passes. */
const maxChangedPaths = 1000;
const skipOption = /^ci\.skip(?:=true)?$/;
/** Limit of refs per push that start runs; a mirror may push thousands. */
const maxRefs = 20;
/** GitHub, "Events that trigger workflows", push: a push of more tags starts no workflow for them. */
const maxTags = 3;

/**
 * Starts workflows after a push, reading files from the pushed commit. A push with the token of a task starts nothing,
 * so that no workflow triggers itself forever.
 */
export function runOnPush(deps: CiDeps): PushListener<Prepared> {
  return {
    name: 'ci',
    // A runner may be waiting for this push.
    isAwaited: true,
    remarkOn: (option) => (skipOption.test(option) ? 'ci.skip: this push starts no workflow' : null),
    prepare: (push) => prepare(deps, push),
    async record(tx, _push, { surroundings, runs, schedules, after }) {
      for (const run of runs) await startRun(deps, tx, after, surroundings, run);
      if (schedules !== null) await saveSchedules(tx, schedules);
    },
    async recorded(_push, { after }) {
      const served = after.mayHaveWork ? deps.queue.wake() : null;
      after.mayHaveWork = false;
      void follow(deps, after);
      await served;
    },
  };
}

async function prepare(deps: CiDeps, push: AnnouncedPush): Promise<Prepared | null> {
  const located = (await deps.repositories.locate([push.repository.id])).get(push.repository.id);
  if (located === undefined) return null;
  const actor = await pusherName(deps, push.pusherId);
  const moved = startingRefs(push.updates, located.repository.defaultBranch);
  const isByKey = push.deployKey !== null;
  const startsNothing = (push.pusherId === null && !isByKey) || push.options.some((option) => skipOption.test(option));
  const runs: NewRun[] = [];
  for (const update of startsNothing ? [] : moved) {
    if (!isNoRef(update.newId)) runs.push(...(await runsOf(deps, located, push, update, actor)));
    runs.push(...(await runsOfRefEvent(deps, located, update, push)));
  }
  const present = moved.filter(({ newId }) => !isNoRef(newId));
  const schedules = await planSchedules(deps, located, push.pusherId, present);
  if (runs.length === 0 && schedules === null) return null;
  return {
    surroundings: {
      repository: located.repository,
      owner: located.owner,
      actor,
      isProtected: await deps.repositories.rules.protectedRefs(located.repository),
    },
    runs,
    schedules,
    after: new AfterCommit(),
  };
}

/**
 * The refs of a push that may start workflows, default branch first. As on GitHub, tags start nothing if a push has
 * more than three of them: it imports the history of a repository, not a release.
 */
function startingRefs(updates: readonly MovedRef[], defaultBranch: string): MovedRef[] {
  const isTag = ({ ref }: MovedRef): boolean => ref.startsWith('refs/tags/');
  const isDefault = ({ ref }: MovedRef): boolean => ref === `refs/heads/${defaultBranch}`;
  const known = updates.filter(({ ref }) => isBranchOrTag(ref));
  const takesTags = known.filter(isTag).length <= maxTags;
  const wanted = takesTags ? known : known.filter((update) => !isTag(update));
  return [...wanted.filter(isDefault), ...wanted.filter((update) => !isDefault(update))].slice(0, maxRefs);
}

async function pusherName({ accounts }: CiDeps, id: string | null): Promise<string> {
  return (id === null ? null : (await accounts.peopleById([id])).get(id)?.username) ?? deletedUserName;
}

/** The runs that one moved ref starts. A broken file fails alone, and only if it might have been triggered. */
async function runsOf(
  deps: CiDeps,
  located: Located,
  push: AnnouncedPush,
  update: MovedRef,
  actor: string,
): Promise<NewRun[]> {
  const { git } = deps;
  const sha = await commitBehind(deps, located.path, update.newId);
  if (sha === null) return [];
  const [files, head] = await Promise.all([
    enabledWorkflows(deps, { repositoryId: located.repository.id, path: located.path }, sha),
    git.objects.commit(located.path, sha),
  ]);
  if (files.length === 0) return [];
  if (asksForNoRun(head.message)) return [];
  const client = located.repository.id;
  const parsed: { file: WorkflowFile; parsed: ParsedWorkflow }[] = [];
  for (const file of files) parsed.push({ file, parsed: await deps.workflows.read(sourceOf(file, client)) });
  const pushed = await describeRef(
    deps,
    located,
    update,
    sha,
    parsed.map((one) => one.parsed),
  );
  const matching: typeof parsed = [];
  for (const one of parsed) if (await isTriggered(deps, one.parsed, pushed, client)) matching.push(one);
  if (matching.length === 0) return [];
  const commits = await commitsSince(deps, located.path, { ...update, newId: sha }, head);
  const moved = await moveOf(deps, located.path, { ...update, newId: sha });
  const payload = pushPayload({ ...update, newId: sha }, commits, located, actor, deps.settings.baseUrl, moved);
  const actorId = push.pusherId;
  const complete = matching.map(({ file, parsed: one }) =>
    withCalledFiles(deps, { ...file, parsed: one }, { actorId, client }),
  );
  return (await Promise.all(complete)).map((file) => ({
    workflowPath: file.path,
    workflowFolder: file.folder,
    content: file.content,
    parsed: file.parsed,
    event: 'push',
    eventPayload: payload,
    ref: update.ref,
    sha,
    isTrusted: true,
    approval: null,
    actorId,
    deployKey: push.deployKey,
    title: head.subject,
  }));
}

/** Peels a tag object; null if the tag does not point to a commit. */
async function commitBehind({ git }: CiDeps, path: string, oid: string): Promise<string | null> {
  return git.refs.resolve(path, oid).catch(() => null);
}

/** A history that cannot be read must not prevent the run. */
function commitsSince({ git }: CiDeps, path: string, update: MovedRef, head: Commit): Promise<Commit[]> {
  return commitsOf(git, path, update, head).catch(() => [head]);
}

/** Whether the old tip is not an ancestor of the new one; for a new ref, also finds another branch at its commit. */
async function moveOf(
  { git }: CiDeps,
  path: string,
  { ref, oldId, newId }: MovedRef,
): Promise<{ isForced: boolean; baseRef: string | null }> {
  if (isNoRef(oldId)) {
    const refs = await git.queries.cachedRefs(path).catch(() => null);
    const other = refs?.nameOf('refs/heads/', newId, ref) ?? null;
    return { isForced: false, baseRef: other === null ? null : `refs/heads/${other}` };
  }
  const base = await git.queries.mergeBase(path, oldId, newId).catch(() => oldId);
  return { isForced: base !== oldId, baseRef: null };
}

/** Compares files only if a filter needs them. */
async function describeRef(
  deps: CiDeps,
  { path }: Located,
  { ref, oldId }: MovedRef,
  sha: string,
  workflows: readonly ParsedWorkflow[],
): Promise<PushedRef> {
  const { type: kind, name } = readRef(ref);
  const needsPaths = kind === 'branch' && workflows.some((one) => triggersOf(one)?.push?.paths != null);
  const from = needsPaths ? await comparedWith(deps, path, oldId, sha) : null;
  const changedPaths =
    from === null
      ? null
      : await deps.git.objects.changedPaths(path, from, sha, { limit: maxChangedPaths }).catch(() => null);
  return { kind, name, changedPaths };
}

/** A new branch is compared with its merge base. */
async function comparedWith({ git }: CiDeps, path: string, oldId: string, sha: string): Promise<string | null> {
  return isNoRef(oldId) ? ((await git.objects.commit(path, sha)).parents[0] ?? null) : oldId;
}

const triggersOf = (parsed: ParsedWorkflow) => (parsed.ok ? parsed.workflow.triggers : parsed.triggers);

/** Whether the push triggers the workflow. */
async function isTriggered(deps: CiDeps, parsed: ParsedWorkflow, pushed: PushedRef, client: string): Promise<boolean> {
  const triggers = triggersOf(parsed);
  // The triggers of an unparsable file are unknown.
  if (triggers === null) return pushed.kind === 'branch';
  return triggers.push !== null && deps.workflows.startsOn(triggers.push, pushed, client);
}
