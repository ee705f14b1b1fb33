import type { Person } from '../../accounts/index.ts';
import type { FinalStatus, RunEndListener, RunRow } from '../../ci/index.ts';
import { giteaTime, repositoryPayload } from '../../gitea-shapes/index.ts';
import type { UserPayload } from '../../gitea-shapes/index.ts';
import { shortRef } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import type { JsonObject } from '../json.ts';
import { pusherPayload } from './commit-payload.ts';
import { enqueueStored, locate, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

type Settings = WebhookDeps['settings'];

/** The columns of a run that its payload contains. */
const toldColumns = [
  'id',
  'number',
  'workflowPath',
  'workflowName',
  'title',
  'event',
  'ref',
  'sha',
  'attempt',
  'actorId',
  'deployKey',
  'createdAt',
  'startedAt',
  'finishedAt',
  'status',
] as const;

/** State of a run at the time of the event; its row may have changed by a re-run. */
export type ToldRun = Pick<RunRow, (typeof toldColumns)[number]>;

export const toldRunOf = (run: RunRow): ToldRun =>
  Object.fromEntries(toldColumns.map((column) => [column, run[column]])) as unknown as ToldRun;

/** The subject of a delivery of the event `workflow_run`. */
interface RunSubject {
  repositoryId: string;
  run: ToldRun & { status: FinalStatus };
}

/**
 * Listener for the end of every run, called inside the write that ends it. Names of users and owners are looked up when
 * the delivery is sent; the state of the run is stored here.
 */
export function onRunEnd(deps: WebhookDeps): RunEndListener {
  return async (tx, run) => {
    const repository = await repositoryOf(tx, run.repositoryId);
    if (repository === null) return;
    const about = { repositoryId: repository.id, run: toldRunOf(run) };
    await enqueueStored(deps, tx, repository, 'run', () => about, 'workflow_run');
  };
}

export const runBody: RenderBody<RunSubject> = async (deps, { repositoryId, run }) => {
  const located = await locate(deps, repositoryId);
  return located === null ? null : runPayload(located, run, await personOf(deps, run.actorId), deps.settings);
};

export function runPayload(
  located: Located,
  run: RunSubject['run'],
  actor: Person | null,
  settings: Settings,
): JsonObject {
  return {
    action: 'completed',
    workflow: workflowFields(run),
    workflow_run: { ...runFields(located, run, actor, settings), status: 'completed', conclusion: run.status },
    repository: repositoryPayload(located, settings),
    sender: runPusher(run, actor, settings),
  };
}

export const workflowFields = ({ workflowPath, workflowName }: ToldRun): JsonObject => ({
  id: workflowPath,
  name: workflowName,
  path: workflowPath,
});

/** Fields of a run in payloads. */
export function runFields(located: Located, run: ToldRun, actor: Person | null, settings: Settings): JsonObject {
  const page = `${settings.baseUrl ?? ''}/repos/${located.owner.handle}/${located.repository.name}`;
  return {
    id: run.id,
    run_number: run.number,
    run_attempt: run.attempt,
    name: run.workflowName,
    display_title: run.title,
    path: run.workflowPath,
    event: run.event,
    head_branch: shortRef(run.ref),
    head_sha: run.sha,
    status: run.finishedAt === null ? 'in_progress' : 'completed',
    conclusion: run.finishedAt === null ? null : run.status,
    html_url: `${page}/runs/${run.number}`,
    created_at: giteaTime(run.createdAt),
    run_started_at: run.startedAt === null ? null : giteaTime(run.startedAt),
    updated_at: giteaTime(run.finishedAt ?? run.createdAt),
    actor: runPusher(run, actor, settings),
  };
}

const runPusher = (run: ToldRun, actor: Person | null, settings: Settings): UserPayload =>
  // Deliveries queued by earlier versions have no title.
  pusherPayload(run.deployKey ? { deployKey: run.deployKey } : actor, settings);
