import type { Following } from '../../federation/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFollowedPerson, viewFollowedRepository, viewReceivedPush } from './follow-status.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { FollowsDeps } from './deps.ts';
import { followHere } from './follow-here.ts';
import { translateTerm } from '../../translation/index.ts';

/** Reads one page of repositories that are followed directly or through a person; the first page also has pushes. */
async function readPart({ person, query }: PersonContext, federation: FollowsDeps['federation']) {
  let part: Following = { people: [], repositories: [], pushes: [] };
  const { rows, next, previous } = await numberedPage(
    async (paging) => {
      part = await federation.followingOf(person.id, paging);
      return [...part.repositories, ...part.people.flatMap(({ repositories }) => repositories)];
    },
    query,
    '/following',
  );
  const isShown = new Set(rows.map(({ id }) => id));
  const only = (some: Following['repositories']) => some.filter(({ id }) => isShown.has(id));
  const isFirst = previous === null;
  const people = part.people
    .map((each) => ({ ...each, repositories: only(each.repositories) }))
    .filter(({ repositories }) => isFirst || repositories.length > 0);
  const shown: Following = { people, repositories: only(part.repositories), pushes: isFirst ? part.pushes : [] };
  return { shown, isFirst, next, previous };
}

async function followingPage(
  context: PersonContext,
  { federation, copies, clock }: FollowsDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { viewer, form, query } = context;
  const { shown, ...beside } = await readPart(context, federation);
  const { people, repositories, pushes } = shown;
  const all = [...repositories, ...people.flatMap((each) => each.repositories)];
  const kept = await copies.ofFollows(
    context.person.id,
    all.map(({ remoteActorId }) => remoteActorId),
  );
  const now = clock.now();
  const of = (kind: 'repository' | 'person') =>
    repositories.filter((each) => each.kind === kind).map((each) => viewFollowedRepository(each, now, kept));
  return page('follows/following', {
    isOn: federation.isOperational,
    obstacles: viewer.isAdministrator ? federation.obstacles.map(translateTerm) : [],
    host: federation.isOperational ? new URL(federation.origin).host : null,
    people: people.map((each) => viewFollowedPerson(each, now, kept)),
    repositories: of('repository'),
    users: of('person'),
    ...beside,
    pushes: pushes.map((each) => viewReceivedPush(each, now)),
    // Other servers link here with the handle that the user wants to follow.
    form: { target: form.text('target') || (query.get('target') ?? '').slice(0, 512) },
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `/following`: repositories and people on other servers, and the pushes there (SPEC §4.7). */
export const showFollowing: Page<PersonContext, FollowsDeps> = (context, deps) => followingPage(context, deps, null);

/** Field `target`: a handle, or the URL of an actor or a page. */
export const addFollow: Page<PersonContext, FollowsDeps> = (context, deps) =>
  submitForm(
    async () => {
      const target = context.form.text('target');
      const local = deps.federation.localTarget(target);
      if (local !== null) {
        await followHere(context, deps, local);
        return seeOther(withFlashMessage('/following/activity', 'followed-here'));
      }
      const { kind, state } = await deps.federation.follow(context.person.id, target);
      const notice =
        kind === 'repository' ? 'repository-followed' : state === undefined ? 'person-followed' : 'follow-asked';
      return seeOther(withFlashMessage('/following', notice));
    },
    (refusal) => followingPage(context, deps, refusal),
  );

export const endFollow: Page<PersonContext, FollowsDeps> = async ({ person, params }, { federation }) => {
  await federation.unfollow(person.id, params.id ?? '');
  return seeOther(withFlashMessage('/following', 'unfollowed'));
};

export const keepCopy: Page<PersonContext, FollowsDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.copies.keep(context.viewer, context.person, context.params.id ?? '');
      return seeOther(withFlashMessage('/following', 'copy-kept'));
    },
    (refusal) => followingPage(context, deps, refusal),
  );

export const retryFollow: Page<PersonContext, FollowsDeps> = async ({ person, params }, { federation }) => {
  await federation.retryFollow(person.id, params.id ?? '');
  return seeOther(withFlashMessage('/following', 'follow-retried'));
};
