import { notFound } from '../../kernel/index.ts';
import { movedTo, page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { listPage } from '../app/list-page.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import { readProfileReadme } from '../code/profile-readme.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewTime } from '../app/times.view.ts';
import { organisationUrl } from '../../http/index.ts';
import type { Page, PersonContext, RequestContext } from '../app/request-context.ts';
import type { OrganisationDeps } from './deps.ts';

async function organisationPage(
  context: RequestContext,
  deps: OrganisationDeps,
  name: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { query, viewer } = context;
  const { organisations, owners, repositories, clock } = deps;
  const organisation = await organisations.find(name);
  const owner = (await owners.ownersById([organisation.id])).get(organisation.id);
  const role = viewer.kind === 'person' ? await organisations.roleOf(viewer.id, organisation.id) : null;
  const isFollowed = viewer.kind === 'person' ? await organisations.follows.has(viewer.id, organisation.id) : null;
  const [members, { repositories: rows, next }, readme] = await Promise.all([
    organisations.memberCount(organisation.id),
    listPage(
      (paging) => repositories.list(viewer, { owner: { kind: 'organisation', id: organisation.id }, ...paging }),
      query,
    ),
    owner === undefined || query.has('after') ? null : readProfileReadme(context, deps, owner),
  ]);
  return page('organisation/organisation', {
    organisation: viewOrganisationHeader(organisation, owner?.avatarAt ?? null, role),
    description: organisation.description,
    website: organisation.website,
    people: viewCount(members, 'person'),
    since: viewTime(organisation.createdAt, clock.now()),
    role,
    isFollowed,
    elsewhereUrl: deps.federation.openFollowers
      ? `/following/elsewhere?path=${encodeURIComponent(organisationUrl(organisation.name))}`
      : null,
    readme,
    mayCreate: role === 'MEMBER' || role === 'OWNER',
    repositories: rows.map((repository) => viewRepositoryRow(repository, clock.now())),
    next: next && `${organisationUrl(organisation.name)}?${new URLSearchParams({ after: next })}`,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `/orgs/{name}`: public; shows the repositories that the viewer can read (SPEC §4.4). */
export const showOrganisation: Page<RequestContext, OrganisationDeps> = async (context, deps) => {
  const wanted = context.params.name ?? '';
  const owner = (await deps.owners.resolve(wanted)) ?? (await deps.owners.resolveFormer(wanted));
  if (owner?.kind !== 'organisation') throw notFound();
  return owner.handle === wanted
    ? organisationPage(context, deps, wanted, null)
    : movedTo(organisationUrl(owner.handle));
};

const following =
  (verb: 'add' | 'remove'): Page<PersonContext, OrganisationDeps> =>
  async ({ person, params }, { organisations }) => {
    const { id, name } = await organisations.find(params.name ?? '');
    await organisations.follows[verb](person.id, id);
    return seeOther(organisationUrl(name));
  };

/** From now on, the activity feed includes its repositories. */
export const followOrganisation = following('add');
export const unfollowOrganisation = following('remove');

/** Ends the user's own membership. For the last OWNER, the organisation's page shows the refusal. */
export const leaveOrganisation: Page<PersonContext, OrganisationDeps> = (context, deps) => {
  const name = context.params.name ?? '';
  return submitForm(
    async () => {
      await deps.organisations.leave(context.viewer, name);
      return seeOther(withFlashMessage('/', 'organisation-left'));
    },
    (refusal) => organisationPage(context, deps, name, refusal),
  );
};
