import type { Viewer } from '../../access/index.ts';
import type { Membership, Organisations } from '../../organisations/index.ts';
import { notFound } from '../../kernel/index.ts';
import { movedTo, page } from '../app/reply.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { listPage } from '../app/list-page.view.ts';
import { firstDayShown, viewPushCalendar } from './push-calendar.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import { readProfileReadme } from '../code/profile-readme.ts';
import { viewCount, viewNumber } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import { organisationUrl, personUrl } from '../../http/index.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const isPerson = (viewer: Viewer, id: string): boolean => viewer.kind === 'person' && viewer.id === id;

/**
 * Only OWNERs see the members of an organisation (SPEC §4.4): anonymous viewers see the memberships that its members
 * page shows them, everyone sees their own.
 */
async function membershipsShownTo(
  viewer: Viewer,
  personId: string,
  organisations: Organisations,
): Promise<Membership[]> {
  if (viewer.kind !== 'person') return [];
  const memberships = await organisations.organisationsOf(personId);
  if (isPerson(viewer, personId) || memberships.length === 0) return memberships;
  const owned = new Set(
    (await organisations.organisationsOf(viewer.id))
      .filter(({ role }) => role === 'OWNER')
      .map(({ organisation }) => organisation.id),
  );
  return memberships.filter(({ organisation }) => owned.has(organisation.id));
}

/** `/users/{username}`: a user's profile, and their repositories that the viewer can see. */
export const showPerson: Page<RequestContext, AccountDeps> = async (context, deps) => {
  const { params, query, viewer } = context;
  const { accounts, organisations, owners, repositories, clock } = deps;
  const wanted = params.username ?? '';
  const owner = (await owners.resolve(wanted)) ?? (await owners.resolveFormer(wanted));
  if (owner?.kind !== 'user') throw notFound();
  if (owner.handle !== wanted) return movedTo(personUrl(owner.handle));
  const person = await accounts.personById(owner.id);
  const now = clock.now();
  const isFirst = !query.has('after');
  const [email, pins, memberships, { repositories: rows, next }, pushes, commits, follows, stars, isFollowed, readme] =
    await Promise.all([
      accounts.addresses.publicOf([person.id]).then((found) => found.get(person.id) ?? null),
      repositories.pins.list(viewer, person.id),
      membershipsShownTo(viewer, person.id, organisations),
      listPage((paging) => repositories.list(viewer, { owner, ...paging }), query),
      isFirst ? repositories.pushes.count(viewer, person.id, firstDayShown(now) * 86_400_000) : null,
      isFirst ? repositories.pushes.countCommits(viewer, person.id, firstDayShown(now) * 86_400_000) : null,
      accounts.following.countsOf(person.id),
      repositories.stars.countStarred(viewer, person.id),
      viewer.kind === 'person' && !isPerson(viewer, person.id) ? accounts.following.has(viewer.id, person.id) : null,
      isFirst ? readProfileReadme(context, deps, owner) : null,
    ]);
  const pictures = await owners.ownersById(memberships.map(({ organisation }) => organisation.id));
  return page('account/profile', {
    username: owner.handle,
    displayName: person.displayName,
    bio: person.bio,
    website: person.website,
    email,
    avatar: viewAvatar(person.id, owner.avatarAt),
    joined: viewTime(person.createdAt, now),
    readme,
    isSelf: isPerson(viewer, person.id),
    url: personUrl(owner.handle),
    /** Null for viewers who cannot follow. */
    isFollowed,
    followers: viewCount(follows.followers, 'follower'),
    following: viewNumber(follows.following),
    elsewhereUrl: deps.federation.openFollowers
      ? `/following/elsewhere?path=${encodeURIComponent(personUrl(owner.handle))}`
      : null,
    stars: stars === 0 ? null : viewCount(stars, 'starred repository'),
    organisations: memberships.map(({ organisation: { id, name, displayName } }) => ({
      name: displayName || name,
      url: organisationUrl(name),
      avatar: viewAvatar(id, pictures.get(id)?.avatarAt),
    })),
    pins: isFirst ? pins.map((repository) => viewRepositoryRow(repository, now)) : [],
    calendar: pushes === null || commits === null ? null : viewPushCalendar({ pushes, commits }, now),
    repositories: rows.map((repository) => viewRepositoryRow(repository, now)),
    next: next && `${personUrl(owner.handle)}?${new URLSearchParams({ after: next })}`,
  });
};
