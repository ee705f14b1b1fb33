import { repositoryPayload, statusPayload, userPayload } from '../../gitea-shapes/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { CommitStatus, StatusWriteListener } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { commitPayload, peopleOfCommits } from './commit-payload.ts';
import { enqueueStored, locate, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/**
 * The subject of a delivery of the event `status`: the status at the time of the event, because another one may replace
 * it.
 */
interface StatusSubject {
  repositoryId: string;
  commitStatus: CommitStatus;
}

/** Listener for commit statuses, called inside the write that records one. */
export function onStatus(deps: WebhookDeps): StatusWriteListener {
  return async (tx, commitStatus) => {
    const repository = await repositoryOf(tx, commitStatus.repositoryId);
    if (repository === null) return;
    const about: StatusSubject = { repositoryId: repository.id, commitStatus };
    await enqueueStored(deps, tx, repository, 'status', () => about);
  };
}

/** `commit` is null for a missing commit. The sender of a status by the CI of this server is the empty user. */
export const statusBody: RenderBody<StatusSubject> = async (deps, { repositoryId, commitStatus }) => {
  const { settings } = deps;
  const located = await locate(deps, repositoryId);
  if (located === null) return null;
  const commit = await deps.git.objects.commit(located.path, commitStatus.sha).catch(nullIfNotFound);
  const people = await peopleOfCommits(deps, commit === null ? [] : [commit]);
  const sender = await personOf(deps, commitStatus.creatorId);
  const fullName = `${located.owner.handle}/${located.repository.name}`;
  const shown = statusPayload(commitStatus, sender, fullName, settings);
  return {
    id: shown.id,
    sha: commitStatus.sha,
    commit: commit && commitPayload({ commit, files: [] }, `${settings.baseUrl ?? ''}/repos/${fullName}`, people),
    context: shown.context,
    description: shown.description,
    state: shown.state,
    target_url: shown.target_url,
    created_at: shown.created_at,
    updated_at: shown.updated_at,
    repository: repositoryPayload(located, settings),
    sender: userPayload(sender, settings),
  };
};
