import type { CiSettings } from '../deps.ts';
import type { Json } from '../workflows/json-value.ts';
import type { RunRow } from '../schema/run-schema.ts';
import type { LoadedRun } from '../load-run.ts';

/** Parses a ref: `refs/heads/main` → branch `main`; `refs/pull/7/merge` → `7/merge`, as on other forges. */
export function readRef(ref: string): { type: 'branch' | 'tag'; name: string } {
  const [, kind, name] = /^refs\/(heads|tags|pull)\/([^]+)$/.exec(ref) ?? [];
  return { type: kind === 'tags' ? 'tag' : 'branch', name: name ?? ref };
}

/** Path of the workflow file from the root of the repository: `.hearth/workflows/ci.yml`. */
export const pathOfWorkflow = ({
  workflowFolder,
  workflowPath,
}: Pick<RunRow, 'workflowFolder' | 'workflowPath'>): string =>
  workflowFolder === '' ? workflowPath : `${workflowFolder}/${workflowPath}`;

/** `github.workflow`: the `name` in the workflow file, or its path from the root. */
export const nameOfWorkflow = ({ run, parsed }: Pick<LoadedRun, 'run' | 'parsed'>): string =>
  parsed.ok && !parsed.workflow.isNamed ? pathOfWorkflow(run) : run.workflowName;

/**
 * The `github` context of the server and of the runner. Runners read numbers as strings. Values that only a runner
 * knows are empty; the runner fills them in.
 */
export function githubContext(
  { run, repository, owner, actor, attemptActor, isProtected, parsed }: LoadedRun,
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
    workflow: nameOfWorkflow({ run, parsed }),
    workflow_ref: `${fullName}/${pathOfWorkflow(run)}@${run.ref}`,
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
