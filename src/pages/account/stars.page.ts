import { personUrl } from '../../http/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { movedTo, page } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import type { AccountDeps } from './deps.ts';
import { personIn } from './follows.page.ts';

/** `/users/{username}/stars`: repositories that the user starred and the viewer can see. */
export const showStars: Page<RequestContext, AccountDeps> = async (context, deps) => {
  const { wanted, owner, person } = await personIn(context, deps);
  const url = personUrl(owner.handle);
  if (owner.handle !== wanted) return movedTo(`${url}/stars`);
  const { repositories, next } = await listPage(
    (paging) => deps.repositories.stars.starredBy(context.viewer, person.id, paging),
    context.query,
  );
  const now = deps.clock.now();
  return page('account/stars', {
    username: owner.handle,
    url,
    repositories: repositories.map((repository) => viewRepositoryRow(repository, now)),
    ...pageLinks(`${url}/stars`, { next, previous: null }),
  });
};
