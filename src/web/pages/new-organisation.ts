import { page, seeOther, type PageReply } from '../responses/reply.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { withNotice } from '../views/notices.ts';
import { organisationUrl } from '../views/urls.ts';
import type { Page, PersonContext } from '../request-context.ts';

function newOrganisationPage({ form }: PersonContext, refusal: FormRefusal | null): PageReply {
  return page('pages/new-organisation', {
    form: { name: form.text('name'), display_name: form.text('display_name') },
    refusal,
  });
}

/** Any person may found one (SPEC §4.4). */
export const showNewOrganisation: Page<PersonContext> = (visit) => newOrganisationPage(visit, null);

/** Fields `name`, `display_name`. Whoever founds it is its first OWNER. */
export const createOrganisation: Page<PersonContext> = (visit, { organisations }) => {
  const { viewer, form } = visit;
  return submit(
    async () => {
      const input = { name: form.text('name').trim(), displayName: form.text('display_name') };
      const { name } = await organisations.create(viewer, input);
      return seeOther(withNotice(organisationUrl(name), 'organisation-created'));
    },
    (refusal) => newOrganisationPage(visit, refusal),
  );
};
