import { invalid } from '../../kernel/index.ts';
import { organisationUrl, personUrl, teamUrl } from '../../http/index.ts';
import type { FoundTeam } from '../../organisations/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { movedTo, page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import type { OrganisationDeps } from './deps.ts';

/** The submitted form of the page. */
type TeamForm = 'settings' | 'member' | 'repository' | 'delete' | 'leave';

interface Refused {
  which: TeamForm;
  refusal: FormRefusal;
}

const addressOf = ({ params }: PersonContext) => ({ organisation: params.name ?? '', name: params.team ?? '' });

const urlOf = ({ organisation, team }: FoundTeam): string => teamUrl(organisation.name, team.name);

async function teamPage(context: PersonContext, deps: OrganisationDeps, refused?: Refused): Promise<PageReply> {
  const { viewer, query, form } = context;
  const at = addressOf(context);
  const { team, organisation, mayManage } = await deps.organisations.teams.find(viewer, at);
  const [members, repositories, role] = await Promise.all([
    deps.organisations.teams.members(viewer, at),
    deps.repositories.teams.listOfTeam(viewer, at),
    deps.organisations.roleOf(viewer.id, organisation.id),
  ]);
  const pictures = await deps.owners.ownersById([organisation.id, ...members.map(({ person }) => person.id)]);
  const now = deps.clock.now();
  const isRefused = (which: TeamForm): boolean => refused?.which === which;
  return page('organisation/team', {
    organisation: viewOrganisationHeader(organisation, pictures.get(organisation.id)?.avatarAt ?? null, role),
    team: {
      name: team.name,
      mention: `@${organisation.name}/${team.name}`,
      description: team.description,
      role: team.role,
      url: teamUrl(organisation.name, team.name),
    },
    mayManage,
    isMember: members.some(({ person }) => person.id === viewer.id),
    members: members.map(({ person, since }) => ({
      username: person.username ?? '',
      displayName: person.displayName,
      url: personUrl(person.username ?? ''),
      avatar: viewAvatar(person.id, pictures.get(person.id)?.avatarAt ?? null),
      since: viewTime(since, now),
    })),
    repositories: repositories.map(({ repository, role: given }) => ({
      ...viewRepositoryRow(repository, now),
      role: given,
    })),
    form: {
      name: isRefused('settings') ? form.text('name') : team.name,
      description: isRefused('settings') ? form.text('description') : team.description,
      role: isRefused('settings') ? form.text('role') : team.role,
      username: form.text('username'),
      repository: form.text('repository'),
      repositoryRole: isRefused('repository') ? form.text('role') : team.role,
      confirm: form.text('confirm'),
    },
    which: refused?.which ?? null,
    refusal: refused?.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

/** For members of the organisation and of the team; all others get 404. */
export const showTeam: Page<PersonContext, OrganisationDeps> = async (context, deps) => {
  const at = addressOf(context);
  const former = (await deps.owners.resolve(at.organisation)) ?? (await deps.owners.resolveFormer(at.organisation));
  const name = former?.kind === 'organisation' ? former.handle : at.organisation;
  const found = await deps.organisations.teams.find(context.viewer, { ...at, organisation: name });
  return found.organisation.name === at.organisation && found.team.name === at.name
    ? teamPage(context, deps)
    : movedTo(urlOf(found));
};

/** A form of the page, for users who can see the team; the use-case checks the permission to manage it. */
function teamForm(
  which: TeamForm,
  act: (context: PersonContext, deps: OrganisationDeps, found: FoundTeam) => Promise<Reply>,
): Page<PersonContext, OrganisationDeps> {
  return async (context, deps) => {
    const found = await deps.organisations.teams.find(context.viewer, addressOf(context));
    return submitForm(
      () => act(context, deps, found),
      (refusal) => teamPage(context, deps, { which, refusal }),
    );
  };
}

/** Fields `name`, `description`, `role`. */
export const saveTeam = teamForm('settings', async (context, { organisations }, { organisation }) => {
  const { viewer, form } = context;
  const edit = { name: form.text('name'), description: form.text('description'), role: form.text('role') };
  const { name } = await organisations.teams.edit(viewer, addressOf(context), edit);
  return seeOther(withFlashMessage(teamUrl(organisation.name, name), 'team-saved'));
});

/** Field `confirm`, the exact name. */
export const deleteTeam = teamForm('delete', async (context, { organisations }, { team, organisation }) => {
  if (context.form.text('confirm').trim() !== team.name)
    throw invalid('wrong_confirmation', `Type ${team.name} to confirm.`, { field: 'confirm' });
  await organisations.teams.delete(context.viewer, addressOf(context));
  return seeOther(withFlashMessage(`${organisationUrl(organisation.name)}/teams`, 'team-deleted'));
});

/** Field `username`. */
export const addTeamMember = teamForm('member', async (context, { organisations }, found) => {
  await organisations.teams.addMember(context.viewer, addressOf(context), context.form.text('username'));
  return seeOther(withFlashMessage(urlOf(found), 'team-member-added'));
});

export const removeTeamMember = teamForm('member', async (context, { organisations }, found) => {
  await organisations.teams.removeMember(context.viewer, addressOf(context), context.params.username ?? '');
  return seeOther(withFlashMessage(urlOf(found), 'team-member-removed'));
});

/** Ends the user's own membership in the team. */
export const leaveTeam = teamForm('leave', async (context, { organisations }) => {
  await organisations.teams.leave(context.viewer, addressOf(context));
  return seeOther(withFlashMessage('/', 'team-left'));
});

/** Fields `repository`, its name with or without the organisation, and `role`. */
export const setTeamRepository = teamForm('repository', async (context, { repositories }, found) => {
  const { viewer, form } = context;
  const words = form.text('repository').trim().split('/');
  const [owner, name] = words.length === 2 ? words : [found.organisation.name, words.join('/')];
  const at = { owner: owner ?? '', name: name ?? '' };
  await repositories.teams.setRole(viewer, addressOf(context), at, form.text('role')).catch((error: unknown) => {
    const isAbsent = (error as { reason?: string }).reason === 'repository_not_found';
    if (!isAbsent || !found.mayManage) throw error;
    throw invalid('no_such_repository', `${found.organisation.name} has no repository with this name.`, {
      field: 'repository',
    });
  });
  return seeOther(withFlashMessage(urlOf(found), 'team-repository-set'));
});

export const removeTeamRepository = teamForm('repository', async (context, { repositories }, found) => {
  const at = { owner: found.organisation.name, name: context.params.repository ?? '' };
  await repositories.teams.removeRole(context.viewer, addressOf(context), at);
  return seeOther(withFlashMessage(urlOf(found), 'team-repository-removed'));
});
