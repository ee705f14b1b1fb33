import { page } from '../reply.ts';
import { viewAvatar } from '../views/avatar.ts';
import { listPage } from '../views/list-page.ts';
import { viewNotice } from '../views/notices.ts';
import { viewPushRow } from '../views/push-row.ts';
import { viewRepositoryRow } from '../views/repository-row.ts';
import { organisationUrl } from '../views/urls.ts';
import type { Page, PersonVisit } from '../visit.ts';

const maxPushes = 8;
/** From here on the page suggests to tidy up (web-ui §12.6). */
const manyPins = 12;

/**
 * The person's pins, what waits for them, the latest pushes and their own repositories,
 * filtered by name; for a newcomer, what to do first.
 */
export const showDashboard: Page<PersonVisit> = async ({ viewer, person, query }, rooms) => {
  const { accounts, organisations, owners, repositories, clock } = rooms;
  const filter = (query.get('q') ?? '').slice(0, 100);
  const own = { ownerId: person.id, filter };
  const [{ repositories: rows, next }, keys, tokens, pins, offers, pushes, memberships] = await Promise.all([
    listPage((paging) => repositories.list(viewer, { ...own, ...paging }), query),
    accounts.listKeys(person.id),
    accounts.listTokens(person.id),
    repositories.listPins(viewer),
    repositories.listOffers(viewer),
    repositories.recentPushes(viewer, maxPushes),
    organisations.organisationsOf(person.id),
  ]);
  const pictures = await owners.ownersById(memberships.map(({ organisation }) => organisation.id));
  const now = clock.now();
  const isEmpty = rows.length === 0 && filter === '';
  return page('pages/dashboard', {
    pins: pins.map((repository) => viewRepositoryRow(repository, now)),
    hasManyPins: pins.length >= manyPins,
    offers: offers.length,
    pushes: pushes.map((push) => viewPushRow(push, now)),
    organisations: memberships.map(({ organisation: { id, name, displayName }, role }) => ({
      name,
      displayName,
      role,
      url: organisationUrl(name),
      avatar: viewAvatar(id, pictures.get(id)?.avatarAt),
    })),
    repositories: rows.map((repository) => viewRepositoryRow(repository, now)),
    filter,
    next: next && `/?${new URLSearchParams({ ...(filter && { q: filter }), after: next })}`,
    checklist: isEmpty || (keys.length === 0 && tokens.length === 0)
      ? { hasKey: keys.length > 0, hasToken: tokens.length > 0, hasRepository: !isEmpty, isAdministrator: viewer.isAdministrator }
      : null,
    notice: viewNotice(query),
  });
};
