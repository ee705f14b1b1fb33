import type { ScanResult } from '../../federation/index.ts';
import { invalid, nullIfNotFound } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewListedFollow } from '../follows/follow-status.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const here = '/admin/federation/follows';

interface Extra {
  refusal?: FormRefusal;
  /** The result of a check for new repositories. */
  scanned?: readonly ScanResult[];
}

async function followsPage(
  context: PersonContext,
  deps: AdminDeps,
  { refusal, scanned }: Extra = {},
): Promise<PageReply> {
  const { query, form } = context;
  const { federation, accounts, clock } = deps;
  const now = clock.now();
  const user = query.get('user')?.trim() ?? '';
  const person = user === '' ? null : await personCalled(deps, user);
  const list = person === null && user !== '' ? async () => [] : federation.listAllFollows;
  const { rows, next, previous } = await numberedPage((paging) => list({ ...paging, userId: person?.id }), query, here);
  const people = await accounts.peopleById(rows.map(({ userId }) => userId));
  return page('admin/follows', {
    isOn: federation.isOperational,
    user,
    follows: rows.map((follow) => viewListedFollow(follow, people.get(follow.userId)?.username ?? '', now)),
    next,
    previous,
    scanned: scanned === undefined ? null : viewScan(scanned),
    form: { user: form.text('user'), target: form.text('target') },
    refusal: refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

function viewScan(results: readonly ScanResult[]) {
  return {
    people: viewCount(results.length, 'person'),
    added: results.flatMap(({ added }) => added),
    errors: results.flatMap(({ handle, error }) => (error === null ? [] : [{ handle, text: error }])),
  };
}

const personCalled = ({ accounts }: AdminDeps, name: string) => accounts.personByUsername(name).catch(nullIfNotFound);

const acting = (context: PersonContext, deps: AdminDeps, notice: string, act: () => Promise<unknown>) =>
  submitForm(
    async () => {
      await act();
      return seeOther(withFlashMessage(here, notice));
    },
    (refusal) => followsPage(context, deps, { refusal }),
  );

/** All follows of other servers' actors; `?user=` only those of one user. */
export const showFollows: Page<PersonContext, AdminDeps> = (context, deps) => followsPage(context, deps);

/** Fields `user` and `target`: a local user follows a remote repository or person. */
export const addFollowFor: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, 'follow-added-for', async () => {
    const person = await personCalled(deps, context.form.text('user').trim());
    if (person === null) throw invalid('unknown_follower', 'No user has this username.', { field: 'user' });
    await deps.federation.followFor(person.id, context.form.text('target'));
  });

export const endFollowFor: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, 'follow-ended-for', () => deps.federation.unfollowFor(context.params.id ?? ''));

export const retryFollowFor: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, 'follow-retried', () => deps.federation.retryFollowFor(context.params.id ?? ''));

/** Checks all followed people for new repositories now; the response shows the result. */
export const resyncFollows: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => followsPage(context, deps, { scanned: await deps.federation.resync() }),
    (refusal) => followsPage(context, deps, { refusal }),
  );
