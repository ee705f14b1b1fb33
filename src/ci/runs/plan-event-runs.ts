import type { Located } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { deletedUserName } from '../load-run.ts';
import { repositoryPayload } from './push-event.ts';
import type { NewRun, RunSource } from './start-run.ts';
import { enabledWorkflows } from '../settings/repository-settings.ts';
import type { Json } from '../workflows/json-value.ts';
import type { EventTrigger, PlainEventName } from '../workflows/workflow.ts';
import { withCalledFiles } from '../workflows/read-called-files.ts';
import { sourceOf } from '../workflows/workflow-reader.ts';

/** An event that starts workflows by name and activity type. */
export interface ActivityEvent {
  event: PlainEventName;
  /** Activity type; null for events without one. */
  action: string | null;
  /** Payload except `repository` and `sender`. */
  details: { [key: string]: Json };
  /** Full name of the ref whose workflows are read. */
  ref: string;
  sha: string;
  isTrusted: boolean;
  actorId: string | null;
  /** Title of the runs; by default the name of the workflow. */
  title?: string;
  /** The created, started or finished run, for `workflow_run`. */
  followedRun?: { workflowNames: readonly string[]; branch: string };
}

/** Runs that an event starts, to be created inside a write; null if there are none. */
export interface PlannedRuns {
  surroundings: RunSource;
  runs: NewRun[];
}

/** Finds the workflows that an event starts. Ignores files that cannot be parsed: pushes report their errors. */
export async function planRuns(deps: CiDeps, located: Located, event: ActivityEvent): Promise<PlannedRuns | null> {
  const { repository, owner, path } = located;
  if (repository.archivedAt !== null) return null;
  const client = repository.id;
  const runs: NewRun[] = [];
  const actor = await usernameOf(deps, event.actorId);
  const sender = { login: actor, username: actor };
  const payload = { ...event.details, repository: repositoryPayload(located, deps.settings.baseUrl), sender };
  for (const file of await enabledWorkflows(deps, { repositoryId: client, path }, event.sha)) {
    const parsed = await deps.workflows.read(sourceOf(file, client));
    const trigger = parsed.ok ? parsed.workflow.triggers.events.get(event.event) : undefined;
    if (!parsed.ok || trigger === undefined || !(await matchesTrigger(deps, trigger, event, client))) continue;
    const complete = await withCalledFiles(deps, { ...file, parsed }, { actorId: event.actorId, client });
    runs.push({
      workflowPath: file.path,
      workflowFolder: file.folder,
      content: complete.content,
      parsed: complete.parsed,
      event: event.event,
      eventPayload: payload,
      ref: event.ref,
      sha: event.sha,
      isTrusted: event.isTrusted,
      approval: null,
      actorId: event.actorId,
      title: event.title || parsed.workflow.name,
    });
  }
  if (runs.length === 0) return null;
  const isProtected = await deps.repositories.rules.protectedRefs(repository);
  return { surroundings: { repository, owner, actor, isProtected }, runs };
}

async function usernameOf({ accounts }: Pick<CiDeps, 'accounts'>, id: string | null): Promise<string> {
  return (id === null ? null : (await accounts.peopleById([id])).get(id)?.username) ?? deletedUserName;
}

async function matchesTrigger(
  deps: Pick<CiDeps, 'workflows'>,
  { types, workflows, branches }: EventTrigger,
  { action, followedRun }: ActivityEvent,
  client: string,
): Promise<boolean> {
  const wanted = types ?? (followedRun === undefined ? null : ['completed']);
  if (wanted !== null && (action === null || !wanted.includes(action))) return false;
  if (followedRun === undefined) return true;
  if (!followedRun.workflowNames.some((name) => workflows.includes(name))) return false;
  const branch = { kind: 'branch', name: followedRun.branch, changedPaths: null } as const;
  return deps.workflows.startsOn({ branches, tags: null, paths: null }, branch, client);
}
