import { personIdOf } from '../../access/index.ts';
import { repositoryPayload, userPayload } from '../../gitea-shapes/index.ts';
import type { WikiListener, WikiPageChange } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { maxMessageLength } from './commit-payload.ts';
import { enqueueStored, locate, personOf } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/** The subject of a delivery of the event `gollum`: the pages changed at the time of the event. */
interface WikiSubject {
  repositoryId: string;
  pages: WikiPageChange[];
  commit: string;
  message: string;
  actorId: string | null;
}

/** Listener for wiki changes; one delivery contains all changed pages. */
export function onWiki(deps: WebhookDeps): WikiListener {
  return ({ found: { repository }, viewer, pages, commit, message }) => {
    const actorId = personIdOf(viewer);
    const about: WikiSubject = { repositoryId: repository.id, pages: [...pages], commit, message, actorId };
    return deps.db.write((tx) => enqueueStored(deps, tx, repository, 'gollum', () => about));
  };
}

/** Changed pages of a wiki: `pages` as on GitHub, and the first of them as in Gitea. */
export const wikiBody: RenderBody<WikiSubject> = async (deps, { repositoryId, pages, commit, message, actorId }) => {
  const { settings } = deps;
  const located = await locate(deps, repositoryId);
  if (located === null) return null;
  const wiki = `${settings.baseUrl ?? ''}/repos/${located.owner.handle}/${located.repository.name}/wiki`;
  const address = (title: string): string =>
    `${wiki}/${(title.includes('-') ? title : title.replaceAll(' ', '-')).split('/').map(encodeURIComponent).join('/')}`;
  const [first] = pages;
  return {
    action: first?.action ?? 'edited',
    page: first?.title ?? '',
    comment: message.slice(0, maxMessageLength),
    pages: pages.map(({ action, title }) => ({
      page_name: title,
      title,
      summary: null,
      action,
      sha: commit,
      html_url: address(title),
    })),
    repository: repositoryPayload(located, settings),
    sender: userPayload(await personOf(deps, actorId), settings),
  };
};
