import type { CiSettings } from '../deps.ts';
import type { Json } from '../workflows/json.ts';
import type { LoadedRun } from './load-run.ts';

/** `refs/heads/main` → branch `main`; `refs/pull/7/merge` → `7/merge`, as on other forges. */
export function readRef(ref: string): { type: 'branch' | 'tag'; name: string } {
  const [, kind, name] = /^refs\/(heads|tags|pull)\/([^]+)$/.exec(ref) ?? [];
  return { type: kind === 'tags' ? 'tag' : 'branch', name: name ?? ref };
}

/**
 * The `github` context, here and on the runner. Runners read numbers as strings. Values that only a runner knows are
 * empty and filled in there.
 */
export function githubContext(
  { run, repository, owner, actor, attemptActor, isProtected }: LoadedRun,
  settings: Pick<CiSettings, 'baseUrl'>,
): { [key: string]: Json } {
  const { type, name } = readRef(run.ref);
  const fullName = `${owner.handle}/${repository.name}`;
  const server = settings.baseUrl ?? '';
  const pull =
    run.event === 'pull_request'
      ? (run.eventPayload['pull_request'] as { head: { ref: string }; base: { ref: string } })
      : null;
  return {
    event: run.eventPayload,
    event_name: run.event,
    run_id: String(run.id),
    run_number: String(run.number),
    run_attempt: String(run.attempt),
    actor,
    actor_id: run.actorId ?? '',
    triggering_actor: attemptActor,
    repository: fullName,
    repository_id: repository.id,
    repository_owner: owner.handle,
    repository_owner_id: owner.id,
    repositoryUrl: `${server}/repos/${fullName}`,
    sha: run.sha,
    ref: run.ref,
    ref_name: name,
    ref_type: type,
    ref_protected: isProtected(run.ref),
    head_ref: pull?.head.ref ?? '',
    base_ref: pull?.base.ref ?? '',
    workflow: run.workflowName,
    workflow_ref: `${fullName}/${run.workflowPath}@${run.ref}`,
    workflow_sha: run.sha,
    server_url: server,
    api_url: `${server}/api/v1`,
    graphql_url: '',
    secret_source: 'Actions',
    action: '',
    action_path: '',
    action_ref: '',
    action_repository: '',
    action_status: '',
    env: '',
    event_path: '',
    path: '',
    workspace: '',
  };
}
