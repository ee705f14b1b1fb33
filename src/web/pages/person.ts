import { notFound } from '../../kernel/index.ts';
import { movedTo, page } from '../reply.ts';
import { viewAvatar } from '../views/avatar.ts';
import { listPage } from '../views/list-page.ts';
import { viewRepositoryRow } from '../views/repository-row.ts';
import { viewTime } from '../views/times.ts';
import { personUrl } from '../views/urls.ts';
import type { Page } from '../visit.ts';

/** `/users/{username}`: what a person says of themselves, and what of theirs the viewer may see. */
export const showPerson: Page = async ({ params, query, viewer }, { accounts, repositories, clock }) => {
  const username = params.username ?? '';
  const person = await accounts.personByUsername(username);
  if (person.username === null) throw notFound();
  if (person.username !== username) return movedTo(personUrl(person.username));
  const { repositories: rows, next } = await listPage(
    (paging) => repositories.list(viewer, { ownerId: person.id, ...paging }),
    query,
  );
  return page('pages/person', {
    username: person.username,
    displayName: person.displayName,
    bio: person.bio,
    website: person.website,
    avatar: viewAvatar(person.id),
    joined: viewTime(person.createdAt, clock.now()),
    isSelf: viewer.kind === 'person' && viewer.id === person.id,
    repositories: rows.map((repository) => viewRepositoryRow(repository, clock.now())),
    next: next && `${personUrl(person.username)}?${new URLSearchParams({ after: next })}`,
  });
};
