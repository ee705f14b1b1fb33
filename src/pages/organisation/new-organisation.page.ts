import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { organisationUrl } from '../../http/index.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { OrganisationDeps } from './deps.ts';

function newOrganisationPage({ form }: PersonContext, refusal: FormRefusal | null): PageReply {
  return page('organisation/new-organisation', {
    form: { name: form.text('name'), display_name: form.text('display_name') },
    refusal,
  });
}

/** Any user may create one (SPEC §4.4). */
export const showNewOrganisation: Page<PersonContext, OrganisationDeps> = (context) =>
  newOrganisationPage(context, null);

/** Fields `name`, `display_name`. The creator becomes its first OWNER. */
export const createOrganisation: Page<PersonContext, OrganisationDeps> = (context, { organisations }) => {
  const { viewer, form } = context;
  return submitForm(
    async () => {
      const input = { name: form.text('name').trim(), displayName: form.text('display_name') };
      const { name } = await organisations.create(viewer, input);
      return seeOther(withFlashMessage(organisationUrl(name), 'organisation-created'));
    },
    (refusal) => newOrganisationPage(context, refusal),
  );
};
