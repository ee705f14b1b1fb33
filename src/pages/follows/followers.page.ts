import { notFound } from '../../kernel/index.ts';
import type { FollowSubject, NoteChoices, ShownFollower } from '../../federation/index.ts';
import { t } from '../../translation/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { ScopePageOf } from '../runs/scopes.ts';
import type { FollowsDeps } from './deps.ts';

/** Pages about the followers of one kind of object on other servers. */
export interface FollowerPages<V extends PersonContext> {
  show: Page<V, FollowsDeps>;
  /** Field `approves`: `yes` to approve each new follower. */
  setApproval: Page<V, FollowsDeps>;
  /** Field `actor` of a request. */
  accept: Page<V, FollowsDeps>;
  /** Fields `pushes`, `releases`, `issues`, `pulls`: `yes` for notes of these. Only for repositories. */
  chooseNotes: Page<V, FollowsDeps>;
  /** Field `note`. Only for repositories. */
  deleteNote: Page<V, FollowsDeps>;
  /** Field `actor` of a request or a follower. */
  remove: Page<V, FollowsDeps>;
}

const viewFollower = ({ actorId, handle, url, host, since }: ShownFollower, now: number) => ({
  actorId,
  handle,
  url,
  host,
  since: viewTime(since, now),
});

/** In the order of the form. */
const viewChoices = (choices: NoteChoices) => [
  { name: 'pushes', label: t('follows.followers.notes_of_pushes'), isChosen: choices.pushes },
  { name: 'releases', label: t('follows.followers.notes_of_releases'), isChosen: choices.releases },
  { name: 'issues', label: t('follows.followers.notes_of_issues'), isChosen: choices.issues },
  { name: 'pulls', label: t('follows.followers.notes_of_pulls'), isChosen: choices.pulls },
];

const shownNotes = 20;

export function followerPages<V extends PersonContext>(placeOf: ScopePageOf<V>): FollowerPages<V> {
  const urlOf = (context: V): string => `${placeOf(context).url}/followers`;
  const subjectOf = (context: V): FollowSubject => placeOf(context).scope as FollowSubject;

  /** Only repositories have notes. */
  function repositoryOf(context: V): FollowSubject {
    const subject = subjectOf(context);
    if (subject.kind !== 'repository') throw notFound();
    return subject;
  }

  async function followersPage(
    context: V,
    { federation, clock }: FollowsDeps,
    refusal: FormRefusal | null = null,
  ): Promise<PageReply> {
    const place = placeOf(context);
    const subject = subjectOf(context);
    let found: Awaited<ReturnType<typeof federation.listSubjectFollowers>> | undefined;
    const { rows, ...beside } = await numberedPage(
      async (paging) => (found = await federation.listSubjectFollowers(subject, paging)).followers,
      context.query,
      urlOf(context),
    );
    const now = clock.now();
    const isRepository = subject.kind === 'repository';
    const [choices, notes] = isRepository
      ? await Promise.all([federation.noteChoices(subject.id), federation.listNotes(subject.id, { limit: shownNotes })])
      : [null, []];
    return page('follows/followers', {
      noteChoices: choices && viewChoices(choices),
      notes: notes.map(({ id, url, text, publishedAt }) => ({
        id,
        url,
        text,
        at: viewTime(publishedAt, now),
      })),
      place,
      url: urlOf(context),
      isOn: federation.isOperational,
      // Servers on the list can always follow repositories.
      canBeFollowed: federation.openFollowers || subject.kind === 'repository',
      isOpen: federation.openFollowers,
      approves: found!.approves,
      requests: found!.requests.map((each) => viewFollower(each, now)),
      followers: rows.map((each) => viewFollower(each, now)),
      total: found!.total,
      ...beside,
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  const acting =
    (notice: string, act: (context: V, deps: FollowsDeps) => Promise<void>): Page<V, FollowsDeps> =>
    (context, deps) =>
      submitForm(
        async () => {
          await act(context, deps);
          return seeOther(withFlashMessage(urlOf(context), notice));
        },
        (refusal) => followersPage(context, deps, refusal),
      );

  return {
    show: (context, deps) => followersPage(context, deps),
    setApproval: acting('settings-saved', (context, { federation }) =>
      federation.setApproval(subjectOf(context), context.form.text('approves') === 'yes'),
    ),
    chooseNotes: acting('settings-saved', (context, { federation }) => {
      const { id } = repositoryOf(context);
      const isChosen = (name: string): boolean => context.form.text(name) === 'yes';
      return federation.chooseNotes(id, {
        pushes: isChosen('pushes'),
        releases: isChosen('releases'),
        issues: isChosen('issues'),
        pulls: isChosen('pulls'),
      });
    }),
    deleteNote: acting('note-deleted', (context, { federation }) =>
      federation.deleteNote(repositoryOf(context).id, context.form.text('note')),
    ),
    accept: acting('follower-accepted', (context, { federation }) =>
      federation.acceptFollower(subjectOf(context), context.form.text('actor')),
    ),
    remove: acting('follower-removed', (context, { federation }) =>
      federation.removeFollower(subjectOf(context), context.form.text('actor')),
    ),
  };
}
