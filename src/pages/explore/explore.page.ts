import { languageCalled } from '../../highlighting/index.ts';
import { oneOf, organisationUrl, personUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { page, type Reply } from '../app/reply.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { ExploreDeps } from './deps.ts';

type Tab = 'repositories' | 'people' | 'organisations';

const paths: Record<Tab, string> = {
  repositories: '/explore',
  people: '/explore/users',
  organisations: '/explore/orgs',
};

/** A user or an organisation in a list of owners. */
interface OwnerRow {
  handle: string;
  title: string;
  text: string;
  url: string;
  avatar: ReturnType<typeof viewAvatar>;
  side: string;
  since: ReturnType<typeof viewTime>;
}

interface TabState {
  orders: readonly string[];
  sort: string;
  next: string | null;
  previous: string | null;
  /** Other active filters, which the links to other orders and pages keep. */
  chosen?: Record<string, string>;
}

/** One tab of the page: its rows, their order, and links to further pages. */
function explorePage(tab: Tab, { orders, sort, chosen = {}, ...beside }: TabState, rows: object): Reply {
  const address = (more: Record<string, string>): string => {
    const query = new URLSearchParams({ ...chosen, ...(sort !== orders[0] && { sort }), ...more });
    if (query.get('sort') === orders[0]) query.delete('sort');
    return query.size === 0 ? paths[tab] : `${paths[tab]}?${query}`;
  };
  return page('explore/explore', {
    tab,
    orders: orders.map((name) => ({ name, url: address({ sort: name }), isChosen: name === sort })),
    ...pageLinks(paths[tab], beside, { ...chosen, ...(sort !== orders[0] && { sort }) }),
    others: sort === orders[0] ? {} : { sort },
    ...rows,
  });
}

const chosenFilter = (filter: string): Record<string, string> => (filter === '' ? {} : { q: filter });

/**
 * `/explore`: the repositories that the viewer can read, all or those in one language; for anonymous viewers, the
 * public ones.
 */
export const exploreRepositories: Page<RequestContext, ExploreDeps> = async (
  { query, viewer },
  { repositories, clock },
) => {
  const orders = ['updated', 'name', 'created'] as const;
  const sort = oneOf(orders, query.get('sort'));
  // Other values are unknown languages, for which no query is made.
  const language = languageCalled(query.get('language') ?? '')?.name;
  const topic = /^[a-z0-9][a-z0-9.-]{0,34}$/.exec((query.get('topic') ?? '').toLowerCase())?.[0];
  const chosen = { ...(language !== undefined && { language }), ...(topic !== undefined && { topic }) };
  const [{ repositories: rows, next, previous }, offered] = await Promise.all([
    listPage((paging) => repositories.list(viewer, { sort, ...chosen, ...paging }), query),
    repositories.statistics.listLanguages(viewer),
  ]);
  const names = language === undefined || offered.includes(language) ? offered : [...offered, language].sort();
  return explorePage(
    'repositories',
    { orders, sort, next, previous, chosen },
    {
      repositories: rows.map((row) => viewRepositoryRow(row, clock.now())),
      language: language ?? null,
      topic: topic ?? null,
      languages: names.map((name) => ({ name, isChosen: name === language })),
      sort: sort === orders[0] ? null : sort,
      all: sort === orders[0] ? paths.repositories : `${paths.repositories}?sort=${sort}`,
    },
  );
};

/** `/explore/users`: the users who have chosen a username (SPEC §2.4). */
export const explorePeople: Page<RequestContext, ExploreDeps> = async ({ query }, { accounts, owners, clock }) => {
  const orders = ['name', 'created'] as const;
  const filter = readFilter(query);
  // A search by prefix is sorted by name.
  const sort = filter === '' ? oneOf(orders, query.get('sort')) : orders[0];
  const [{ people, next, previous }, { profiles }] = await Promise.all([
    listPage((paging) => accounts.listProfiles({ sort, prefix: filter, ...paging }), query),
    accounts.countPeople(),
  ]);
  const pictures = await owners.ownersById(people.map(({ id }) => id));
  const rows = people.map(
    ({ id, username, displayName, bio, createdAt }): OwnerRow => ({
      handle: username ?? '',
      title: displayName,
      text: bio.split('\n', 1)[0] ?? '',
      url: personUrl(username ?? ''),
      avatar: viewAvatar(id, pictures.get(id)?.avatarAt),
      side: t('explore.explore.joined'),
      since: viewTime(createdAt, clock.now()),
    }),
  );
  return explorePage(
    'people',
    { orders: filter === '' ? orders : [orders[0]], sort, next, previous, chosen: chosenFilter(filter) },
    { owners: rows, filter, count: viewCount(profiles, 'person') },
  );
};

/** `/explore/orgs`: organisations are public (SPEC §4.4). */
export const exploreOrganisations: Page<RequestContext, ExploreDeps> = async (
  { query },
  { organisations, owners, clock },
) => {
  const orders = ['name', 'created'] as const;
  const filter = readFilter(query);
  const sort = filter === '' ? oneOf(orders, query.get('sort')) : orders[0];
  const [{ organisations: found, next, previous }, count] = await Promise.all([
    listPage((paging) => organisations.list({ sort, prefix: filter, ...paging }), query),
    organisations.countAll(),
  ]);
  const pictures = await owners.ownersById(found.map(({ id }) => id));
  const rows = found.map(
    ({ id, name, displayName, description, members, createdAt }): OwnerRow => ({
      handle: name,
      title: displayName,
      text: description,
      url: organisationUrl(name),
      avatar: viewAvatar(id, pictures.get(id)?.avatarAt),
      side: t('explore.explore.people_since', { people: viewCount(members, 'person') }),
      since: viewTime(createdAt, clock.now()),
    }),
  );
  return explorePage(
    'organisations',
    { orders: filter === '' ? orders : [orders[0]], sort, next, previous, chosen: chosenFilter(filter) },
    { owners: rows, filter, count: viewCount(count, 'organisation') },
  );
};
