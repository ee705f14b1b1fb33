import { repositoryUrl } from '../../http/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { RepositoryDeps } from './deps.ts';
import { importGroupUrl, viewGroup } from './import-group.page.ts';
import { ownersFor } from './new-repository.page.ts';

interface ImportForm {
  owner: string;
  address: string;
  name: string;
  watch: boolean;
}

/** Maximum number of imports in the list, newest first. */
const mostGroups = 20;
/** Interval at which a watched origin is checked for changes. */
const watchMs = 15 * 60_000;

async function importPage(
  context: PersonContext,
  deps: RepositoryDeps,
  form: ImportForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const groups = await deps.imports.groups.list(context.viewer, mostGroups);
  const now = deps.clock.now();
  return page('repository/import-repository', {
    form,
    refusal,
    owners: await ownersFor(context, deps),
    groups: groups.map((group) => viewGroup(group, now)),
  });
}

export const showImportRepository: Page<PersonContext, RepositoryDeps> = (context, deps) => {
  const { query, person } = context;
  const owner = query.get('owner') ?? person.username ?? '';
  return importPage(context, deps, { owner, address: query.get('address') ?? '', name: '', watch: true }, null);
};

const partsOf = (address: string): number =>
  (URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `https://${address}`)?.pathname ?? '/a/b')
    .split('/')
    .filter(Boolean).length;

/** A URL without a repository name means a whole account, one without any path the whole server. */
const namesAccount = (address: string): boolean => partsOf(address) < 2;
const namesServer = (address: string): boolean => partsOf(address) === 0;

/** Fields `address`, `token`, `name` (default: the name there), `owner` (default: the user), `watch`. */
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
      const wish = { ...input, token: form.text('token').trim(), watchMs: input.watch ? watchMs : null };
      if (namesAccount(input.address)) {
        const isServer = namesServer(input.address);
        const { owner } = input;
        const group = await deps.imports.groups.start(viewer, {
          ...wish,
          isServer,
          owner: isServer ? undefined : owner,
        });
        return seeOther(withFlashMessage(importGroupUrl(group.id), 'import-begun'));
      }
      const { id } = await deps.imports.start(viewer, wish);
      const { owner, repository } = (await deps.repositories.locate([id])).get(id)!;
      const url = repositoryUrl({ owner: owner.handle, name: repository.name });
      return seeOther(withFlashMessage(`${url}/settings/import`, 'import-begun'));
    },
    (refusal) => importPage(context, deps, input, refusal),
  );
};
