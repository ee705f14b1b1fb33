import { releasePayload, repositoryPayload, userPayload } from '../../gitea-shapes/index.ts';
import type { ReleaseEvent, ReleaseListener } from '../../releases/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { enqueueStored, locate, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/**
 * The subject of a delivery of the event `release`: the release at the time of the event, because it may be deleted
 * later.
 */
interface ReleaseSubject extends Pick<ReleaseEvent, 'release' | 'files' | 'actorId'> {
  repositoryId: string;
  action: 'published' | 'updated' | 'deleted';
}

/**
 * Listener for releases, called inside the write that changes one. A release that becomes a draft counts as deleted,
 * because receivers learn nothing of drafts.
 */
export function onRelease(deps: WebhookDeps): ReleaseListener {
  return async (tx, { action, repository, release, files, actorId }) => {
    const about: ReleaseSubject = {
      repositoryId: repository.id,
      action: action === 'withdrawn' ? 'deleted' : action,
      release,
      files,
      actorId,
    };
    await enqueueStored(deps, tx, repository, 'release', () => about);
  };
}

export const releaseBody: RenderBody<ReleaseSubject> = async (deps, subject) => {
  const { repositoryId, action, release, files, actorId } = subject;
  const { settings } = deps;
  const located = await locate(deps, repositoryId);
  if (located === null) return null;
  return {
    action,
    release: releasePayload({ ...release, files }, await personOf(deps, release.authorId), located, settings),
    repository: repositoryPayload(located, settings),
    sender: userPayload(await personOf(deps, actorId), settings),
  };
};
