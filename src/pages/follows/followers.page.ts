import type { FollowSubject, ShownFollower } from '../../federation/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { ScopePageOf } from '../runs/scopes.ts';
import type { FollowsDeps } from './deps.ts';

/** Pages about who follows one kind of thing from other servers. */
export interface FollowerPages<V extends PersonContext> {
  show: Page<V, FollowsDeps>;
  /** Field `approves`: `yes` to approve each new follower. */
  setApproval: Page<V, FollowsDeps>;
  /** Field `actor`, of a request. */
  accept: Page<V, FollowsDeps>;
  /** Field `actor`, of a request or a follower. */
  remove: Page<V, FollowsDeps>;
}

const viewFollower = ({ actorId, handle, url, host, since }: ShownFollower, now: number) => ({
  actorId,
  handle,
  url,
  host,
  since: viewTime(since, now),
});

export function followerPages<V extends PersonContext>(placeOf: ScopePageOf<V>): FollowerPages<V> {
  const urlOf = (context: V): string => `${placeOf(context).url}/followers`;
  const subjectOf = (context: V): FollowSubject => placeOf(context).scope as FollowSubject;

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
    return page('follows/followers', {
      place,
      url: urlOf(context),
      isOn: federation.isOperational,
      // Repositories can be followed from servers on the list in any case.
      canBeFollowed: federation.openFollowers || subject.kind === 'repository',
      isOpen: federation.openFollowers,
      approves: found!.approves,
      requests: found!.requests.map((each) => viewFollower(each, now)),
      followers: rows.map((each) => viewFollower(each, now)),
      total: found!.total,
      ...beside,
      refusal,
      notice: viewNotice(context.query),
    });
  }

  const acting =
    (notice: string, act: (context: V, deps: FollowsDeps) => Promise<void>): Page<V, FollowsDeps> =>
    (context, deps) =>
      submitForm(
        async () => {
          await act(context, deps);
          return seeOther(withNotice(urlOf(context), notice));
        },
        (refusal) => followersPage(context, deps, refusal),
      );

  return {
    show: (context, deps) => followersPage(context, deps),
    setApproval: acting('settings-saved', (context, { federation }) =>
      federation.setApproval(subjectOf(context), context.form.text('approves') === 'yes'),
    ),
    accept: acting('follower-accepted', (context, { federation }) =>
      federation.acceptFollower(subjectOf(context), context.form.text('actor')),
    ),
    remove: acting('follower-removed', (context, { federation }) =>
      federation.removeFollower(subjectOf(context), context.form.text('actor')),
    ),
  };
}
