import { repositoryUrl } from '../../http/index.ts';
import { withNotice } from '../app/notices.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { RepositoryDeps } from './deps.ts';
import { ownersFor } from './new-repository.page.ts';

interface ImportForm {
  owner: string;
  address: string;
  name: string;
  watch: boolean;
}

/** How often a repository that stays followed is asked for changes. */
const watchMs = 15 * 60_000;

async function importPage(
  context: PersonContext,
  deps: RepositoryDeps,
  form: ImportForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  return page('repository/import-repository', { form, refusal, owners: await ownersFor(context, deps) });
}

export const showImportRepository: Page<PersonContext, RepositoryDeps> = (context, deps) => {
  const { query, person } = context;
  const owner = query.get('owner') ?? person.username ?? '';
  return importPage(context, deps, { owner, address: query.get('address') ?? '', name: '', watch: true }, null);
};

/** Fields `address`, `token`, `name` (left out: as it is there), `owner` (left out: oneself), `watch`. */
export const importRepository: Page<PersonContext, RepositoryDeps> = (context, deps) => {
  const { form, viewer, person } = context;
  const input: ImportForm = {
    owner: form.text('owner') || (person.username ?? ''),
    address: form.text('address').trim(),
    name: form.text('name').trim(),
    watch: form.text('watch') === 'yes',
  };
  return submitForm(
    async () => {
      const { id } = await deps.imports.start(viewer, {
        ...input,
        token: form.text('token').trim(),
        watchMs: input.watch ? watchMs : null,
      });
      const { owner, repository } = (await deps.repositories.locate([id])).get(id)!;
      const url = repositoryUrl({ owner: owner.handle, name: repository.name });
      return seeOther(withNotice(`${url}/settings/import`, 'import-begun'));
    },
    (refusal) => importPage(context, deps, input, refusal),
  );
};
