import { repositoryUrl } from '../../http/index.ts';
import type { QueuePosition } from '../../pulls/index.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import { viewPerson } from '../issues/people.view.ts';
import type { PullsDeps } from './deps.ts';

/** `B/pulls/queue`: the pull requests in the merge queue, by branch. */
export const showQueue: Page<RepositoryContext, PullsDeps> = async ({ viewer, found }, deps) => {
  const { owner, name } = found.canonical;
  const places = await deps.pulls.queue.list(viewer, { owner, name });
  const ids = places.map(({ addedBy }) => addedBy).filter((id) => id !== null);
  const people = await deps.owners.ownersById(ids);
  const now = deps.clock.now();
  const url = repositoryUrl(found.canonical);
  const row = (place: QueuePosition) => ({
    number: place.number,
    title: viewName(place.title),
    url: `${url}/pulls/${place.number}`,
    place: place.place,
    isTesting: place.state === 'TESTING',
    runsUrl: `${url}/runs?event=merge_group`,
    by: place.addedBy === null ? null : viewPerson(place.addedBy, people),
    added: viewTime(place.addedAt, now),
  });
  return page('pulls/queue', {
    repository: viewRepositoryHeader(found),
    branches: [...Map.groupBy(places, ({ baseBranch }) => baseBranch)].map(([branch, own]) => ({
      branch: viewName(branch),
      rows: own.map(row),
    })),
  });
};
