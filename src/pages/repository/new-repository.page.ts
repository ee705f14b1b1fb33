import { isDomainError } from '../../kernel/index.ts';
import type { Visibility } from '../../access/index.ts';
import { oneOf, repositoryUrl } from '../../http/index.ts';
import { gitignoreTemplates, licenceTemplates } from '../../repositories/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

function templateAt(text: string): { owner: string; name: string } {
  const [owner = '', name = ''] = text.split('/', 2);
  return { owner, name };
}

interface NewRepositoryForm {
  owner: string;
  name: string;
  description: string;
  visibility: Visibility;
  default_branch: string;
  readme: boolean;
  labels: boolean;
  license: string;
  gitignores: string;
  /** `owner/name` of a template; empty for none. */
  template: string;
  import_address: string;
  import_username: string;
  import_mirror: boolean;
  import_releases: boolean;
}

// Private by default: a repository becomes public only by choice.
const visibilities = ['PRIVATE', 'PUBLIC'] as const;

/** The owners under whom the user can create: their own account, and organisations where they are MEMBER or OWNER. */
export async function ownersFor({ person }: PersonContext, { organisations }: RepositoryDeps): Promise<string[]> {
  const memberships = await organisations.organisationsOf(person.id);
  const writing = memberships.filter(({ role }) => role !== 'GUEST').map(({ organisation }) => organisation.name);
  return [person.username ?? '', ...writing];
}

async function newRepositoryPage(
  context: PersonContext,
  deps: RepositoryDeps,
  form: NewRepositoryForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  return page('repository/new-repository', {
    form,
    refusal,
    owners: await ownersFor(context, deps),
    licences: Object.keys(licenceTemplates),
    gitignores: Object.keys(gitignoreTemplates),
  });
}

/** `?owner=` preselects an organisation, whose page links here. `?template=` names a template. */
export const showNewRepository: Page<PersonContext, RepositoryDeps> = (context, deps) => {
  const owner = context.query.get('owner') ?? context.person.username ?? '';
  return newRepositoryPage(
    context,
    deps,
    {
      owner,
      name: '',
      description: '',
      visibility: 'PRIVATE',
      default_branch: context.query.has('template') ? '' : 'main',
      readme: false,
      labels: true,
      license: '',
      gitignores: '',
      template: context.query.get('template') ?? '',
      import_address: '',
      import_username: '',
      import_mirror: false,
      import_releases: false,
    },
    null,
  );
};

/**
 * Fields `owner` (default: the user), `name`, `description`, `visibility`, `default_branch`; for first files `readme`,
 * `license`, `gitignores`, or `template`; to import one from elsewhere `import_address`, `import_username`,
 * `import_secret`, `import_mirror`, `import_releases`.
 */
export const createRepository: Page<PersonContext, RepositoryDeps> = (context, deps) => {
  const { form, viewer, person } = context;
  const input: NewRepositoryForm = {
    owner: form.text('owner') || (person.username ?? ''),
    name: form.text('name').trim(),
    description: form.text('description'),
    visibility: oneOf(visibilities, form.text('visibility')),
    default_branch: form.text('default_branch').trim() || (form.text('template') === '' ? 'main' : ''),
    readme: form.text('readme') !== '',
    labels: form.text('labels') !== '',
    license: form.text('license'),
    gitignores: form.text('gitignores'),
    template: form.text('template').trim(),
    import_address: form.text('import_address').trim(),
    import_username: form.text('import_username').trim(),
    import_mirror: form.text('import_mirror') === 'yes',
    import_releases: form.text('import_releases') === 'yes',
  };
  return submitForm(
    async () => {
      const {
        default_branch: defaultBranch,
        readme,
        labels,
        license: licence,
        gitignores: gitignore,
        template,
        import_address: address,
        import_username: username,
        import_mirror: keepMirroring,
        import_releases: withReleases,
        ...fields
      } = input;
      const isImport = address !== '';
      const { id } = isImport
        ? await deps.mirrors.import(viewer, {
            ...fields,
            address,
            username,
            secret: form.text('import_secret'),
            keepMirroring,
            withReleases,
          })
        : await deps.repositories.create(viewer, {
            ...fields,
            defaultBranch: defaultBranch || undefined,
            readme,
            licence,
            gitignore: [gitignore],
            template: template === '' ? undefined : templateAt(template),
          });
      const {
        owner,
        repository: { name },
      } = (await deps.repositories.locate([id])).get(id)!;
      const url = repositoryUrl({ owner: owner.handle, name });
      // A member of an organisation may create repositories there without managing its labels.
      if (labels && !isImport)
        await deps.issues
          .addDefaultLabels(viewer, { repository: { owner: owner.handle, name } })
          .catch((error: unknown) => {
            if (!isDomainError(error) || error.code !== 'forbidden') throw error;
          });
      if (!isImport) return seeOther(url);
      const waits = (await deps.mirrors.find(id))?.isWaitingForKey === true;
      return seeOther(withFlashMessage(`${url}/settings/mirror`, waits ? 'import-key' : 'import-begun'));
    },
    (refusal) => newRepositoryPage(context, deps, input, refusal),
    { address: 'import_address', username: 'import_username', secret: 'import_secret', releases: 'import_releases' },
  );
};
