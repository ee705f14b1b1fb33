import { notFound } from '../../kernel/index.ts';
import { personUrl } from '../../http/index.ts';
import { translated } from '../../translation/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { movedTo, page, seeOther } from '../app/reply.ts';
import type { Page, PersonContext, RequestContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

/** The user whom a path names, also by a former name. Throws `not_found`. */
export async function personIn({ params }: Pick<RequestContext, 'params'>, { accounts, owners }: AccountDeps) {
  const wanted = params['username'] ?? '';
  const owner = (await owners.resolve(wanted)) ?? (await owners.resolveFormer(wanted));
  if (owner?.kind !== 'user') throw notFound();
  return { wanted, owner, person: await accounts.personById(owner.id) };
}

const change =
  (verb: 'follow' | 'unfollow'): Page<PersonContext, AccountDeps> =>
  async (context, deps) => {
    const { owner } = await personIn(context, deps);
    await deps.accounts.following[verb](context.person.id, owner.id);
    return seeOther(personUrl(owner.handle));
  };

/** Follows a user of this server. */
export const followPerson = change('follow');
export const unfollowPerson = change('unfollow');

const titles = translated({ followers: 'account.follows.followers', following: 'account.follows.following' } as const);

/** `/users/{username}/followers` and `…/following`. */
export const showFollows =
  (side: keyof typeof titles): Page<RequestContext, AccountDeps> =>
  async (context, deps) => {
    const { wanted, owner, person } = await personIn(context, deps);
    const url = personUrl(owner.handle);
    if (owner.handle !== wanted) return movedTo(`${url}/${side}`);
    const { people, next } = await listPage(
      (paging) => deps.accounts.following.list(person.id, side, paging),
      context.query,
    );
    const pictures = await deps.owners.ownersById(people.map(({ id }) => id));
    return page('account/follows', {
      username: owner.handle,
      url,
      side,
      title: titles[side],
      people: people.flatMap(({ id, username, displayName }) =>
        username === null
          ? []
          : [
              {
                name: username,
                displayName,
                url: personUrl(username),
                avatar: viewAvatar(id, pictures.get(id)?.avatarAt),
              },
            ],
      ),
      ...pageLinks(`${url}/${side}`, { next, previous: null }),
    });
  };
