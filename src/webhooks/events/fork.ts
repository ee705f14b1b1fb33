import { repositoryPayload, userPayload } from '../../gitea-shapes/index.ts';
import type { ForkListener } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { enqueueStored, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/** The subject of a delivery of the event `fork`. */
interface ForkSubject {
  repositoryId: string;
  forkId: string;
  byId: string | null;
}

/**
 * Listener for forks, called inside the write that creates one. A private fork sends no webhook, because receivers of
 * the source's webhooks may not read it.
 */
export function onFork(deps: WebhookDeps): ForkListener {
  return async (tx, { source, fork, byId }) => {
    if (fork.visibility !== 'PUBLIC') return;
    const about: ForkSubject = { repositoryId: source.id, forkId: fork.id, byId };
    await enqueueStored(deps, tx, source, 'fork', () => about);
  };
}

/** As in Gitea, `forkee` is the source and `repository` is the fork. Null also for a fork that is now private. */
export const forkBody: RenderBody<ForkSubject> = async (deps, { repositoryId, forkId, byId }) => {
  const located = await deps.repositories.locate([repositoryId, forkId]);
  const [source, fork] = [located.get(repositoryId), located.get(forkId)];
  if (source === undefined || fork?.repository.visibility !== 'PUBLIC') return null;
  return {
    forkee: repositoryPayload(source, deps.settings),
    repository: repositoryPayload(fork, deps.settings),
    sender: userPayload(await personOf(deps, byId), deps.settings),
  };
};
