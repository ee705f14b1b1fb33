import { personUrl, repositoryUrl, returnTarget } from '../../http/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { page, seeOther } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { RepositoryDeps } from './deps.ts';

const back = ({ form, found }: RepositoryContext): string =>
  returnTarget(form.text('next') || repositoryUrl(found.canonical));

/** Anyone who can read a repository may star it; `next` is the page with the button. */
export const starRepository: Page<RepositoryContext, RepositoryDeps> = async (context, { repositories }) => {
  const { owner, name } = context.found.canonical;
  await repositories.stars.add(context.viewer, owner, name);
  return seeOther(back(context));
};

export const unstarRepository: Page<RepositoryContext, RepositoryDeps> = async (context, { repositories }) => {
  const { owner, name } = context.found.canonical;
  await repositories.stars.remove(context.viewer, owner, name);
  return seeOther(back(context));
};

/** `B/stargazers`: the users who starred the repository. */
export const showStargazers: Page<RepositoryContext, RepositoryDeps> = async (context, deps) => {
  const { found, query } = context;
  const { accounts, owners, repositories, clock } = deps;
  const list = await listPage((paging) => repositories.stars.stargazers(found.repository.id, paging), query);
  const ids = list.rows.map(({ userId }) => userId);
  const [people, pictures] = await Promise.all([accounts.peopleById(ids), owners.ownersById(ids)]);
  return page('repository/stars', {
    repository: viewRepositoryHeader(found),
    count: viewCount(found.stars.count, 'star'),
    people: list.rows.flatMap(({ userId, createdAt }) => {
      const person = people.get(userId);
      if (person?.username == null || person.disabledAt !== null) return [];
      return [
        {
          name: person.username,
          displayName: person.displayName,
          url: personUrl(person.username),
          avatar: viewAvatar(userId, pictures.get(userId)?.avatarAt),
          at: viewTime(createdAt, clock.now()),
        },
      ];
    }),
    ...pageLinks(`${repositoryUrl(found.canonical)}/stargazers`, list),
  });
};
