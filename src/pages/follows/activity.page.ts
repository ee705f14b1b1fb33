import { feedKinds } from '../../federation/index.ts';
import type { FeedEntry, FeedKind, ListedEvent, RepositoryName } from '../../federation/index.ts';
import { t } from '../../translation/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { personUrl, repositoryUrl } from '../../http/index.ts';
import { page } from '../app/reply.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import { viewPushRow } from '../repository/push-row.view.ts';
import type { FollowsDeps } from './deps.ts';
import { viewReceivedPush } from './follow-status.view.ts';

const here = '/following/activity';
const perPage = 30;

const kindWords: Record<FeedKind, string> = {
  push: 'follows.activity.pushes',
  release: 'common.releases',
  opened: 'follows.activity.opened',
  merged: 'common.merged',
};

const places = [
  [null, 'follows.activity.everywhere'],
  ['here', 'follows.activity.this_server'],
  ['elsewhere', 'follows.activity.other_servers'],
] as const;

const viewRepository = (repository: RepositoryName) => ({
  name: `${repository.owner}/${repository.name}`,
  url: repositoryUrl(repository),
});

const viewAuthor = (name: string | null) => (name === null ? null : { name, url: personUrl(name) });

const releaseWords = (tag: string, title: string) => ({
  kind: 'other',
  icon: 'release',
  what: t('follows.activity.released'),
  title: title === '' || title === tag ? tag : `${tag}: ${title}`,
});

const entryWords = (
  kind: 'opened' | 'merged',
  { isPull, number, title }: { isPull: boolean; number: number; title: string },
) => ({
  kind: 'other',
  icon: isPull ? (kind === 'merged' ? 'merge' : 'pull') : 'issue',
  what: t(
    kind === 'merged'
      ? 'follows.activity.merged'
      : isPull
        ? 'follows.activity.opened_the_pull_request'
        : 'follows.activity.opened_the_issue',
  ),
  title: `${title} #${number}`,
});

/** Addresses are those that the other server sent, on its own host. */
function viewRemoteEvent({ kind, isPull, number, tag, title, ...event }: ListedEvent, now: number) {
  const words =
    kind === 'release' ? releaseWords(tag ?? '', title) : entryWords(kind, { isPull, number: number ?? 0, title });
  return {
    ...words,
    repository: { name: event.handle, url: event.repositoryUrl },
    author: event.author === null ? null : { name: event.author, url: null },
    at: viewTime(event.happenedAt, now),
    url: event.url ?? event.repositoryUrl,
    rel: 'noopener noreferrer nofollow',
  };
}

function viewEntry(entry: FeedEntry, now: number) {
  const { kind, at } = entry;
  if (kind === 'push') return { kind, push: viewPushRow(entry.push, now) };
  if (kind === 'remote-push') return { kind, push: viewReceivedPush(entry.push, now) };
  if (kind === 'remote-event') return viewRemoteEvent(entry.event, now);
  const { repository, author, title } = entry;
  const common = { repository: viewRepository(repository), author: viewAuthor(author), at: viewTime(at, now) };
  const base = repositoryUrl(repository);
  if (kind === 'release') {
    const { tag } = entry;
    return {
      ...common,
      ...releaseWords(tag, title),
      url: `${base}/releases/tag/${encodeURIComponent(tag)}`,
    };
  }
  const { number, isPull } = entry;
  return {
    ...common,
    ...entryWords(kind, { isPull, number, title }),
    url: `${base}/${isPull ? 'pulls' : 'issues'}/${number}`,
  };
}

/** `/following/activity`: one feed of the activity in followed repositories, of users and of organisations. */
export const showActivityFeed: Page<PersonContext, FollowsDeps> = async (context, { federation, clock }) => {
  const { viewer, query, person } = context;
  const wanted = feedKinds.filter((kind) => query.getAll('show').includes(kind));
  const place = places.map(([name]) => name).find((name) => name !== null && name === query.get('place')) ?? null;
  const filter = { ...(wanted.length > 0 && { kinds: wanted }), place, limit: perPage };
  const found = await federation
    .activityFeed(viewer, { ...filter, after: query.get('after') })
    .catch((error: unknown) => {
      // An invalid cursor shows the first page.
      if (!isDomainError(error) || error.reason !== 'invalid_page') throw error;
      return federation.activityFeed(viewer, filter);
    });
  const chosen = (show: readonly string[], where: string | null, after?: string): string => {
    const parameters = new URLSearchParams(show.map((kind) => ['show', kind]));
    if (where !== null) parameters.set('place', where);
    if (after !== undefined) parameters.set('after', after);
    return parameters.size === 0 ? here : `${here}?${parameters}`;
  };
  return page('follows/activity', {
    entries: found.entries.map((entry) => viewEntry(entry, clock.now())),
    kinds: [
      { label: t('follows.activity.all'), url: chosen([], place), isChosen: wanted.length === 0 },
      ...feedKinds.map((kind) => ({
        label: t(kindWords[kind]),
        url: chosen([kind], place),
        isChosen: wanted.includes(kind),
      })),
    ],
    places: places.map(([name, label]) => ({ label: t(label), url: chosen(wanted, name), isChosen: place === name })),
    isFiltered: wanted.length > 0 || place !== null,
    isFirst: !query.has('after'),
    first: chosen(wanted, place),
    next: found.next === null ? null : chosen(wanted, place, found.next),
    profile: person.username === null ? null : personUrl(person.username),
    notice: viewFlashMessage(query),
  });
};
