import { asInstanceAdministrator } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Repository, RepositoryAddress } from '../../repositories/index.ts';
import { t } from '../../translation/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewSize } from '../app/format-numbers.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

const list = '/admin/repositories';

/** URL where administrators manage a repository, even without read access to it. */
export const adminRepositoryUrl = ({ owner, name }: RepositoryAddress): string =>
  `${list}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

type RepositoryForm = 'transfer' | 'state' | 'delete';

interface Input {
  which: RepositoryForm;
  refusal: FormRefusal;
}

interface FoundHere {
  repository: Repository;
  canonical: RepositoryAddress;
}

/** With the access of the command line, where the operator can do all of this. Throws `not_found`. */
const find = ({ viewer, params }: PersonContext, { repositories }: AdminDeps): Promise<FoundHere> =>
  repositories.find(asInstanceAdministrator(viewer), params.owner ?? '', params.name ?? '');

async function repositoryPage(
  { query, form }: PersonContext,
  { storage, config, clock }: AdminDeps,
  { repository, canonical }: FoundHere,
  input?: Input,
): Promise<PageReply> {
  const { gitBytes, sharedBytes, lfsBytes, releaseBytes, attachmentBytes, artifactBytes } = await storage.ofRepository(
    repository.id,
  );
  const now = clock.now();
  const all = gitBytes + lfsBytes + releaseBytes + attachmentBytes + artifactBytes;
  return page('admin/repository', {
    name: `${canonical.owner}/${canonical.name}`,
    self: adminRepositoryUrl(canonical),
    /** The link to a private repository appears only for administrators with access to it. */
    url: repository.visibility === 'PUBLIC' ? repositoryUrl(canonical) : null,
    isPrivate: repository.visibility === 'PRIVATE',
    isArchived: repository.archivedAt !== null,
    created: viewTime(repository.createdAt, now),
    pushed: repository.pushedAt === null ? null : viewTime(repository.pushedAt, now),
    usage: [
      ['Git', gitBytes],
      ['Git LFS', lfsBytes],
      [t('admin.repository.release_files'), releaseBytes],
      [t('admin.repository.attachments'), attachmentBytes],
      [t('admin.repository.artifacts'), artifactBytes],
      [t('admin.repository.total'), all],
    ].map(([kind, bytes]) => ({ kind, size: viewSize(Number(bytes)) })),
    shared: sharedBytes === 0 ? null : viewSize(sharedBytes),
    trashDays: Math.round(config.repositories.trashKeepMs / 86_400_000),
    form: { newOwner: form.text('new_owner'), confirm: form.text('confirm') },
    which: input?.which ?? null,
    refusal: input?.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

/** A form of this page; when refused, it is shown with the submitted values. */
const repositoryForm =
  (
    which: RepositoryForm,
    act: (address: RepositoryAddress, context: PersonContext, deps: AdminDeps) => Promise<Reply>,
  ): Page<PersonContext, AdminDeps> =>
  async (context, deps) => {
    const found = await find(context, deps);
    return submitForm(
      () => act(found.canonical, context, deps),
      (refusal) => repositoryPage(context, deps, found, { which, refusal }),
      { newOwner: 'new_owner' },
    );
  };

/** `/admin/repositories/{owner}/{name}`: the storage of a repository, and the actions of an administrator. */
export const showAdminRepository: Page<PersonContext, AdminDeps> = async (context, deps) =>
  repositoryPage(context, deps, await find(context, deps));

/** Field `new_owner`. Takes effect at once: nobody has to accept. The old path redirects. */
export const transferAnyRepository = repositoryForm('transfer', async ({ owner, name }, { viewer, form }, deps) => {
  const to = form.text('new_owner').trim();
  await deps.repositories.transfers.start(asInstanceAdministrator(viewer), owner, name, to);
  return seeOther(withFlashMessage(adminRepositoryUrl({ owner: to, name }), 'transferred'));
});

/** Field `state`: `archived`, `unarchived` or `private`. Only its owner can make a repository public. */
export const setRepositoryState = repositoryForm(
  'state',
  async ({ owner, name }, { viewer, form }, { repositories }) => {
    const here = adminRepositoryUrl({ owner, name });
    const state = form.text('state');
    if (state === 'private') {
      await repositories.changeVisibility(asInstanceAdministrator(viewer), owner, name, 'PRIVATE');
      return seeOther(withFlashMessage(here, 'now-private'));
    }
    if (state !== 'archived' && state !== 'unarchived')
      throw invalid('unknown_state', 'Choose archived, unarchived or private.');
    await repositories.setArchived(asInstanceAdministrator(viewer), owner, name, state === 'archived');
    return seeOther(withFlashMessage(here, state));
  },
);

/** Field `confirm`, the exact `owner/name`. Moves the repository to the trash of its owner. */
export const deleteAnyRepository = repositoryForm(
  'delete',
  async ({ owner, name }, { viewer, form }, { repositories }) => {
    if (form.text('confirm').trim() !== `${owner}/${name}`)
      throw invalid('wrong_confirmation', `Type ${owner}/${name} to confirm.`, { field: 'confirm' });
    await repositories.trash.move(asInstanceAdministrator(viewer), owner, name);
    return seeOther(withFlashMessage(list, 'admin-repository-deleted'));
  },
);
