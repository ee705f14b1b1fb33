import { page, seeOther } from '../app/reply.ts';
import { submit } from '../app/submit.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { viewCount } from '../app/sizes.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { WebDeps } from '../../http/index.ts';

const here = '/admin/people';

async function peoplePage({ person: self, query }: PersonContext, { accounts, clock }: WebDeps, more: object = {}) {
  const filter = readFilter(query);
  const [{ people, next, previous }, counts] = await Promise.all([
    listPage((paging) => accounts.listAccounts({ prefix: filter, ...paging }), query),
    accounts.countPeople(),
  ]);
  const now = clock.now();
  return page('admin/people', {
    count: viewCount(counts.accounts, 'person', 'people'),
    filter,
    ...pageLinks(here, { next, previous }, { q: filter }),
    people: people.map(({ id, username, isAdministrator, disabledAt, lastSeenAt, createdAt }) => ({
      id,
      username,
      isAdministrator,
      isDisabled: disabledAt !== null,
      isSelf: id === self.id,
      avatar: viewAvatar(id),
      seen: lastSeenAt === null ? null : viewTime(lastSeenAt, now),
      joined: viewTime(createdAt, now),
    })),
    notice: viewNotice(query),
    ...more,
  });
}

const changing = (visit: PersonContext, deps: WebDeps, change: () => Promise<unknown>) =>
  submit(
    async () => {
      await change();
      return seeOther(withNotice(here, 'person-changed'));
    },
    (refusal) => peoplePage(visit, deps, { refusal }),
  );

/** Everybody with an account, by handle. Query: `q`, how the handle begins; `after`, `before`. */
export const showAdminPeople: Page<PersonContext> = (visit, deps) => peoplePage(visit, deps);

/** Field `on`: `yes` makes an administrator of them, anything else ends it. */
export const setAdministrator: Page<PersonContext> = (visit, deps) =>
  changing(visit, deps, () => deps.accounts.setAdministrator(visit.params.id ?? '', visit.form.text('on') === 'yes'));

/** Field `on`: `yes` shuts them out, anything else lets them in. */
export const setDisabled: Page<PersonContext> = (visit, deps) =>
  changing(visit, deps, () => deps.accounts.setDisabled(visit.params.id ?? '', visit.form.text('on') === 'yes'));
