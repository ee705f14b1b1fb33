import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import { organisationUrl } from '../../http/index.ts';
import type { OrganisationOwnerContext, Page } from '../app/request-context.ts';
import type { OrganisationDeps } from './deps.ts';

/** The submitted form of the page. */
type SettingsForm = 'profile' | 'avatar' | 'rename' | 'delete';

interface Refused {
  which: SettingsForm;
  refusal: FormRefusal;
}

/** Maximum number of repositories listed as blocking the deletion; the refusal counts all. */
const maxOwned = 50;

async function settingsPage(
  context: OrganisationOwnerContext,
  deps: OrganisationDeps,
  refused?: Refused,
): Promise<PageReply> {
  const { organisation, form, query, viewer } = context;
  const { owners, repositories, federation, clock } = deps;
  const [found, owned, trash, followers] = await Promise.all([
    owners.ownersById([organisation.id]),
    repositories.list(viewer, {
      owner: { kind: 'organisation', id: organisation.id },
      limit: maxOwned,
      sort: 'name',
    }),
    repositories.trash.list({ kind: 'organisation', id: organisation.id }),
    federation.countFollowers({ owner: { kind: 'organisation', id: organisation.id } }),
  ]);
  const avatarAt = found.get(organisation.id)?.avatarAt ?? null;
  const isRefused = (which: SettingsForm): boolean => refused?.which === which;
  return page('organisation/organisation-settings', {
    organisation: viewOrganisationHeader(organisation, avatarAt, 'OWNER'),
    hasAvatar: avatarAt !== null,
    owned: owned.repositories.map((repository) => viewRepositoryRow(repository, clock.now())),
    trashed: trash.map(({ name }) => name),
    followers,
    form: {
      display_name: isRefused('profile') ? form.text('display_name') : organisation.displayName,
      description: isRefused('profile') ? form.text('description') : organisation.description,
      website: isRefused('profile') ? form.text('website') : organisation.website,
      name: isRefused('rename') ? form.text('name') : organisation.name,
      confirm: form.text('confirm'),
    },
    which: refused?.which ?? null,
    refusal: refused?.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

const settingsUrl = (name: string): string => `${organisationUrl(name)}/settings`;

function settingsForm(
  which: SettingsForm,
  act: (context: OrganisationOwnerContext, deps: OrganisationDeps) => Promise<Reply>,
): Page<OrganisationOwnerContext, OrganisationDeps> {
  return (context, deps) =>
    submitForm(
      () => act(context, deps),
      (refusal) => settingsPage(context, deps, { which, refusal }),
    );
}

export const showOrganisationSettings: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) =>
  settingsPage(context, deps);

/** Fields `display_name`, `description`, `website`. */
export const saveOrganisation = settingsForm('profile', async ({ viewer, organisation, form }, { organisations }) => {
  await organisations.edit(viewer, organisation.name, {
    displayName: form.text('display_name'),
    description: form.text('description'),
    website: form.text('website'),
  });
  return seeOther(withFlashMessage(settingsUrl(organisation.name), 'settings-saved'));
});

/** Field `avatar`, the file. */
export const uploadOrganisationAvatar = settingsForm(
  'avatar',
  async ({ viewer, organisation, takeUpload }, { organisations }) => {
    await organisations.replaceAvatar(viewer, organisation.name, takeUpload());
    return seeOther(withFlashMessage(settingsUrl(organisation.name), 'avatar-saved'));
  },
);

export const deleteOrganisationAvatar: Page<OrganisationOwnerContext, OrganisationDeps> = async (
  { viewer, organisation },
  { organisations },
) => {
  await organisations.removeAvatar(viewer, organisation.name);
  return seeOther(withFlashMessage(settingsUrl(organisation.name), 'avatar-removed'));
};

/** Field `name`. The old name stays reserved and redirects to the new one. */
export const renameOrganisation = settingsForm('rename', async ({ viewer, organisation, form }, { organisations }) => {
  const { name } = await organisations.rename(viewer, organisation.name, form.text('name').trim());
  return seeOther(withFlashMessage(settingsUrl(name), 'organisation-renamed'));
});

/** Field `confirm`, the exact name. An organisation that owns repositories cannot be deleted (SPEC §3). */
export const deleteOrganisation = settingsForm('delete', async ({ viewer, organisation, form }, { organisations }) => {
  if (form.text('confirm').trim() !== organisation.name) {
    throw invalid('wrong_confirmation', `Type ${organisation.name} to confirm.`, { field: 'confirm' });
  }
  await organisations.delete(viewer, organisation.name);
  return seeOther(withFlashMessage('/', 'organisation-deleted'));
});
