import { notFound } from '../../kernel/index.ts';
import { organisationUrl, teamUrl } from '../../http/index.ts';
import { movedTo, page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewCount } from '../app/format-numbers.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import type { OrganisationOwnerContext, Page, PersonContext } from '../app/request-context.ts';
import type { OrganisationDeps } from './deps.ts';

/**
 * `/orgs/{name}/teams`: all teams for members of the organisation, their own teams for other team members; all others
 * get 404.
 */
export const showTeams: Page<PersonContext, OrganisationDeps> = async ({ viewer, params, query }, deps) => {
  const wanted = params.name ?? '';
  const owner = (await deps.owners.resolve(wanted)) ?? (await deps.owners.resolveFormer(wanted));
  if (owner?.kind !== 'organisation') throw notFound();
  const teams = await deps.organisations.teams.list(viewer, owner.handle);
  if (owner.handle !== wanted) return movedTo(`${organisationUrl(owner.handle)}/teams`);
  const [organisation, role, pictures] = await Promise.all([
    deps.organisations.find(owner.handle),
    deps.organisations.roleOf(viewer.id, owner.id),
    deps.owners.ownersById([owner.id]),
  ]);
  const repositories =
    role === 'OWNER'
      ? await deps.repositories.teams.countOfTeams(teams.map(({ id }) => id))
      : new Map<string, number>();
  return page('organisation/teams', {
    organisation: viewOrganisationHeader(organisation, pictures.get(owner.id)?.avatarAt ?? null, role),
    teams: teams.map(({ id, name, description, people }) => ({
      name,
      mention: `@${organisation.name}/${name}`,
      description,
      url: teamUrl(organisation.name, name),
      people: viewCount(people, 'person'),
      repositories: role === 'OWNER' ? viewCount(repositories.get(id) ?? 0, 'repository') : null,
    })),
    notice: viewFlashMessage(query),
  });
};

async function newTeamPage(
  { organisation, form }: OrganisationOwnerContext,
  { owners }: OrganisationDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const pictures = await owners.ownersById([organisation.id]);
  return page('organisation/new-team', {
    organisation: viewOrganisationHeader(organisation, pictures.get(organisation.id)?.avatarAt ?? null, 'OWNER'),
    form: {
      name: form.text('name'),
      description: form.text('description'),
      role: form.text('role') || 'read',
    },
    refusal,
  });
}

export const showNewTeam: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) =>
  newTeamPage(context, deps, null);

/** Fields `name`, `description`, `role`: read, write or admin. */
export const createTeam: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) => {
  const { viewer, organisation, form } = context;
  return submitForm(
    async () => {
      const team = await deps.organisations.teams.create(viewer, organisation.name, {
        name: form.text('name'),
        description: form.text('description'),
        role: form.text('role') || 'read',
      });
      return seeOther(withFlashMessage(teamUrl(organisation.name, team.name), 'team-created'));
    },
    (refusal) => newTeamPage(context, deps, refusal),
  );
};
