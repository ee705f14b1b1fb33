import type { Viewer } from '../../access/index.ts';
import { commitKey } from '../../repositories/index.ts';
import type { ListedRepository, RecentPush } from '../../repositories/index.ts';
import { page } from '../app/reply.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewStatusIcon } from '../app/status-icon.view.ts';
import type { StatusIconView } from '../app/status-icon.view.ts';
import { listPage } from '../app/list-page.view.ts';
import { viewReceivedPush } from '../follows/follow-status.view.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewPushRow } from '../repository/push-row.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import { organisationUrl, repositoryUrl } from '../../http/index.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { viewAttentionPulls } from '../pulls/attention-pulls.view.ts';
import type { AccountDeps } from './deps.ts';

const maxPushes = 8;
const maxFollowedPushes = 5;
const maxWaiting = 5;
/** From this number of pins on, the page suggests removing some. */
const manyPins = 12;

/** Commit statuses of the pushes and of the default branches on the page, with two queries in total. */
async function readStatuses(
  { ci, repositories }: AccountDeps,
  pushes: readonly RecentPush[],
  shown: readonly ListedRepository[],
) {
  const heads = await ci.runs.newestChecked(shown);
  const placeOf = ({ repository, updates, updateCount }: RecentPush) => ({
    repositoryId: repository.id,
    sha: updateCount === 1 ? updates[0]!.newId : '',
  });
  const combined = await repositories.statuses.ofRepositoryCommits([
    ...pushes.map(placeOf),
    ...[...heads].map(([repositoryId, sha]) => ({ repositoryId, sha })),
  ]);
  const commitStatus = (
    repositoryId: string,
    sha: string,
    { owner, name }: ListedRepository,
  ): StatusIconView | null => {
    const status = combined.get(commitKey({ repositoryId, sha }));
    return status === undefined ? null : viewStatusIcon(status, repositoryUrl({ owner: owner.handle, name }));
  };
  return {
    ofPush: (push: RecentPush) => commitStatus(push.repository.id, placeOf(push).sha, push.repository),
    ofRepository: (repository: ListedRepository) =>
      commitStatus(repository.id, heads.get(repository.id) ?? '', repository),
  };
}

/** The user's follows on other servers: the newest pushes, and failed requests. */
async function readFollowing(personId: string, { federation, clock }: AccountDeps) {
  if (!federation.isOperational) return { pushes: [], stuck: [] };
  const { pushes, pending } = await federation.followedNews(personId, maxFollowedPushes);
  return {
    pushes: pushes.map((push) => viewReceivedPush(push, clock.now())),
    stuck: pending
      .filter(({ status }) => status.state !== 'ACCEPTED' && status.why === 'failed')
      .map(({ handle }) => handle),
  };
}

/** Pull requests that wait for the user, and their own that wait for others. */
async function readWaiting(viewer: Viewer, deps: AccountDeps) {
  const { attention } = deps.pulls;
  const paging = { limit: maxWaiting, after: null, before: null };
  const [own, others] = await Promise.all([
    attention.waitingFor(viewer, paging),
    attention.waitingForOthers(viewer, paging),
  ]);
  return {
    own: await viewAttentionPulls(deps, own.rows),
    hasMoreOwn: own.next !== null,
    others: await viewAttentionPulls(deps, others.rows),
    hasMoreOthers: others.next !== null,
  };
}

/**
 * The user's pins, their pending items, the latest pushes and the repositories with write access, filtered by name; for
 * a newcomer, the first steps.
 */
export const showDashboard: Page<PersonContext, AccountDeps> = async ({ viewer, person, query }, deps) => {
  const { accounts, organisations, owners, repositories, clock } = deps;
  const filter = (query.get('q') ?? '').slice(0, 100);
  const [{ repositories: rows, next }, keys, tokens, pins, offers, pushes, memberships, following, waiting] =
    await Promise.all([
      listPage((paging) => repositories.list(viewer, { isWritable: true, filter, ...paging }), query),
      accounts.listKeys(person.id),
      accounts.listTokens(person.id),
      repositories.pins.list(viewer),
      repositories.transfers.listOffers(viewer),
      repositories.pushes.listRecent(viewer, maxPushes),
      organisations.organisationsOf(person.id),
      readFollowing(person.id, deps),
      readWaiting(viewer, deps),
    ]);
  const statuses = await readStatuses(deps, pushes, [...rows, ...pins]);
  const pictures = await owners.ownersById(memberships.map(({ organisation }) => organisation.id));
  const now = clock.now();
  const failing = [...new Map([...pins, ...rows].map((repository) => [repository.id, repository])).values()].flatMap(
    (repository) => {
      const commitStatus = statuses.ofRepository(repository);
      return commitStatus?.tone === 'bad'
        ? [
            {
              name: `${repository.owner.handle}/${repository.name}`,
              url: repositoryUrl({ owner: repository.owner.handle, name: repository.name }),
              commitStatus,
            },
          ]
        : [];
    },
  );
  const isEmpty = rows.length === 0 && filter === '';
  return page('account/dashboard', {
    pins: pins.map((repository) => ({
      ...viewRepositoryRow(repository, now),
      commitStatus: statuses.ofRepository(repository),
    })),
    hasManyPins: pins.length >= manyPins,
    offers: offers.length,
    failing,
    waiting,
    following,
    pushes: pushes.map((push) => ({ ...viewPushRow(push, now), commitStatus: statuses.ofPush(push) })),
    organisations: memberships.map(({ organisation: { id, name, displayName }, role }) => ({
      name,
      displayName,
      role,
      url: organisationUrl(name),
      avatar: viewAvatar(id, pictures.get(id)?.avatarAt),
    })),
    repositories: rows.map((repository) => ({
      ...viewRepositoryRow(repository, now),
      commitStatus: statuses.ofRepository(repository),
    })),
    filter,
    next: next && `/?${new URLSearchParams({ ...(filter && { q: filter }), after: next })}`,
    checklist:
      isEmpty || (keys.length === 0 && tokens.length === 0)
        ? {
            hasKey: keys.length > 0,
            hasToken: tokens.length > 0,
            hasRepository: !isEmpty,
            isAdministrator: viewer.isAdministrator,
          }
        : null,
    notice: viewFlashMessage(query),
  });
};
