import { organisationUrl, personUrl } from '../../http/index.ts';
import { noFilter } from '../../issues/index.ts';
import type { IssueFilter } from '../../issues/index.ts';
import { notFound } from '../../kernel/index.ts';
import { pageLinks } from '../app/list-page.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { movedTo, page } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { locatedOf, readIssueResults, viewRows } from './issue-results.view.ts';
import { readIssueFilter } from './issue-filter.view.ts';

/** The query parameters of an owner's list: the state and the sort. */
function ownerFilter({ query }: RequestContext, place: Partial<IssueFilter>): IssueFilter {
  const { state, sort } = readIssueFilter(query).filter;
  return { ...noFilter, ...place, state, sort: query.has('q') ? sort : 'updated' };
}

/** `/users/{username}/issues`: issues that a user has opened and the viewer can see. */
export const showIssuesOfPerson: Page<RequestContext, IssuesDeps> = async (context, deps) => {
  const wanted = context.params['username'] ?? '';
  const owner = (await deps.owners.resolve(wanted)) ?? (await deps.owners.resolveFormer(wanted));
  if (owner?.kind !== 'user') throw notFound();
  const base = `${personUrl(owner.handle)}/issues`;
  if (owner.handle !== wanted) return movedTo(base);
  const filter = ownerFilter(context, { author: owner.handle });
  const { view, list, isSlow } = await readIssueResults(context, deps, base, filter);
  return page('issues/issues-of-owner', {
    organisation: null,
    person: { username: owner.handle, url: personUrl(owner.handle) },
    filter: view,
    issues: await viewRows(deps, list.rows, locatedOf(list.rows)),
    isSlow,
    ...pageLinks(base, list, { q: view.text }),
  });
};

/** `/orgs/{name}/issues`: the issues of its repositories that the viewer can see. */
export const showIssuesOfOrganisation: Page<RequestContext, IssuesDeps> = async (context, deps) => {
  const wanted = context.params['name'] ?? '';
  const owner = (await deps.owners.resolve(wanted)) ?? (await deps.owners.resolveFormer(wanted));
  if (owner?.kind !== 'organisation') throw notFound();
  const base = `${organisationUrl(owner.handle)}/issues`;
  if (owner.handle !== wanted) return movedTo(base);
  const { viewer } = context;
  const organisation = await deps.organisations.find(wanted);
  const role = viewer.kind === 'person' ? await deps.organisations.roleOf(viewer.id, organisation.id) : null;
  const filter = ownerFilter(context, { owner: owner.handle });
  const { view, list, isSlow } = await readIssueResults(context, deps, base, filter);
  return page('issues/issues-of-owner', {
    organisation: viewOrganisationHeader(organisation, owner.avatarAt, role),
    person: null,
    filter: view,
    issues: await viewRows(deps, list.rows, locatedOf(list.rows)),
    isSlow,
    ...pageLinks(base, list, { q: view.text }),
  });
};
