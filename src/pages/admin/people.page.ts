import { page, seeOther } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const here = '/admin/people';

async function peoplePage({ person: self, query }: PersonContext, { accounts, clock }: AdminDeps, more: object = {}) {
  const filter = readFilter(query);
  const [{ people, next, previous }, counts] = await Promise.all([
    listPage((paging) => accounts.listAccounts({ prefix: filter, ...paging }), query),
    accounts.countPeople(),
  ]);
  const now = clock.now();
  return page('admin/people', {
    count: viewCount(counts.accounts, 'person'),
    filter,
    ...pageLinks(here, { next, previous }, { q: filter }),
    people: people.map(({ id, username, isAdministrator, disabledAt, lastSeenAt, createdAt, secondFactorAt }) => ({
      id,
      username,
      isAdministrator,
      isDisabled: disabledAt !== null,
      hasSecondFactor: secondFactorAt !== null,
      isSelf: id === self.id,
      avatar: viewAvatar(id),
      seen: lastSeenAt === null ? null : viewTime(lastSeenAt, now),
      joined: viewTime(createdAt, now),
    })),
    notice: viewFlashMessage(query),
    ...more,
  });
}

const changing = (context: PersonContext, deps: AdminDeps, change: () => Promise<unknown>) =>
  submitForm(
    async () => {
      await change();
      return seeOther(withFlashMessage(here, 'person-changed'));
    },
    (refusal) => peoplePage(context, deps, { refusal }),
  );

/** All accounts, by username. Query: `q`, a prefix of the username; `after`, `before`. */
export const showAdminPeople: Page<PersonContext, AdminDeps> = (context, deps) => peoplePage(context, deps);

/** Field `on`: `yes` makes the user an administrator, anything else ends it. */
export const setAdministrator: Page<PersonContext, AdminDeps> = (context, deps) =>
  changing(context, deps, () =>
    deps.accounts.setAdministrator(context.params.id ?? '', context.form.text('on') === 'yes'),
  );

/** Field `on`: `yes` suspends the account, anything else ends the suspension. */
export const setDisabled: Page<PersonContext, AdminDeps> = (context, deps) =>
  changing(context, deps, () => deps.accounts.setDisabled(context.params.id ?? '', context.form.text('on') === 'yes'));

/** Removes the second factors of a user who has lost them. */
export const resetSecondFactor: Page<PersonContext, AdminDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.accounts.secondFactor.reset(context.params.id ?? '');
      return seeOther(withFlashMessage(here, 'second-factor-reset'));
    },
    (refusal) => peoplePage(context, deps, { refusal }),
  );
