import { page } from '../reply.ts';
import { listPage } from '../views/list-page.ts';
import { viewNotice } from '../views/notices.ts';
import { viewRepositoryRow } from '../views/repository-row.ts';
import type { Page, PersonVisit } from '../visit.ts';

/** The person's own repositories, filtered by name; for a newcomer, what to do first. */
export const showDashboard: Page<PersonVisit> = async ({ viewer, person, query }, { accounts, repositories, clock }) => {
  const filter = (query.get('q') ?? '').slice(0, 100);
  const own = { ownerId: person.id, filter };
  const [{ repositories: rows, next }, keys, tokens] = await Promise.all([
    listPage((paging) => repositories.list(viewer, { ...own, ...paging }), query),
    accounts.listKeys(person.id),
    accounts.listTokens(person.id),
  ]);
  const isEmpty = rows.length === 0 && filter === '';
  return page('pages/dashboard', {
    repositories: rows.map((repository) => viewRepositoryRow(repository, clock.now())),
    filter,
    next: next && `/?${new URLSearchParams({ ...(filter && { q: filter }), after: next })}`,
    checklist: isEmpty || (keys.length === 0 && tokens.length === 0)
      ? { hasKey: keys.length > 0, hasToken: tokens.length > 0, hasRepository: !isEmpty, isAdministrator: viewer.isAdministrator }
      : null,
    notice: viewNotice(query),
  });
};
