import { invalid } from '../../kernel/index.ts';
import type { RepositoryAddress } from '../../repositories/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

/** The submitted form; several have a field of the same name. */
type DangerForm = 'rename' | 'transfer' | 'archive' | 'delete';

interface DangerInput {
  which: DangerForm;
  refusal: FormRefusal;
}

async function dangerPage(
  context: RepositoryPersonContext,
  { repositories, federation, config }: RepositoryDeps,
  input?: DangerInput,
): Promise<PageReply> {
  const { viewer, found, form, query } = context;
  const { owner, name } = found.canonical;
  const [offer, followers, { forks, privateForks }] = await Promise.all([
    repositories.transfers.offerOf(viewer, owner, name),
    federation.countFollowers({ repositoryId: found.repository.id }),
    repositories.forks.countAll(viewer, owner, name),
  ]);
  return page('repository/danger-zone', {
    repository: viewRepositoryHeader(found),
    section: 'danger',
    trashDays: Math.round(config.repositories.trashKeepMs / 86_400_000),
    followers,
    forks: forks === 0 ? null : viewCount(forks, 'fork'),
    privateForks: privateForks === 0 || privateForks === forks ? null : privateForks,
    offeredTo: offer?.handle ?? null,
    form: { name: form.text('name') || name, new_owner: form.text('new_owner'), confirm: form.text('confirm') },
    which: input?.which ?? null,
    refusal: input?.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

const dangerUrl = (address: RepositoryAddress): string => `${repositoryUrl(address)}/settings/danger`;

/** Throws unless the user typed the repository's exact name. */
function requireTyped(confirm: string, { owner, name }: RepositoryAddress): void {
  if (confirm.trim() === `${owner}/${name}`) return;
  throw invalid('wrong_confirmation', `Type ${owner}/${name} to confirm.`, { field: 'confirm' });
}

/** A form of this page; when refused, it is shown with the submitted values. */
function dangerForm(
  which: DangerForm,
  act: (context: RepositoryPersonContext, deps: RepositoryDeps) => Promise<Reply>,
): Page<RepositoryPersonContext, RepositoryDeps> {
  return (context, deps) =>
    submitForm(
      () => act(context, deps),
      (refusal) => dangerPage(context, deps, { which, refusal }),
    );
}

export const showDangerZone: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) =>
  dangerPage(context, deps);

/** Field `name`. The old path redirects until it is used again. */
export const renameRepository = dangerForm(
  'rename',
  async ({ viewer, found: { canonical }, form }, { repositories }) => {
    const address = await repositories.rename(viewer, canonical.owner, canonical.name, form.text('name').trim());
    return seeOther(withFlashMessage(repositoryUrl(address), 'renamed'));
  },
);

/** Fields `new_owner`, `confirm`. Immediate when the user owns both sides, otherwise an offer. */
export const transferRepository = dangerForm(
  'transfer',
  async ({ viewer, found: { canonical }, form }, { repositories }) => {
    requireTyped(form.text('confirm'), canonical);
    const outcome = await repositories.transfers.start(viewer, canonical.owner, canonical.name, form.text('new_owner'));
    return outcome.kind === 'transferred'
      ? seeOther(withFlashMessage(repositoryUrl(outcome.canonical), 'transferred'))
      : seeOther(withFlashMessage(dangerUrl(canonical), 'transfer-offered'));
  },
);

export const withdrawTransfer: Page<RepositoryPersonContext, RepositoryDeps> = async (
  { viewer, found: { canonical } },
  { repositories },
) => {
  await repositories.transfers.withdraw(viewer, canonical.owner, canonical.name);
  return seeOther(withFlashMessage(dangerUrl(canonical), 'transfer-withdrawn'));
};

export const archiveRepository: Page<RepositoryPersonContext, RepositoryDeps> = async (
  { viewer, found: { canonical } },
  { repositories },
) => {
  await repositories.setArchived(viewer, canonical.owner, canonical.name, true);
  return seeOther(withFlashMessage(dangerUrl(canonical), 'archived'));
};

export const unarchiveRepository: Page<RepositoryPersonContext, RepositoryDeps> = async (
  { viewer, found: { canonical } },
  { repositories },
) => {
  await repositories.setArchived(viewer, canonical.owner, canonical.name, false);
  return seeOther(withFlashMessage(dangerUrl(canonical), 'unarchived'));
};

/** Field `confirm`, the exact `owner/name`. Moves the repository to the trash. */
export const deleteRepository = dangerForm(
  'delete',
  async ({ viewer, found: { canonical }, form }, { repositories }) => {
    requireTyped(form.text('confirm'), canonical);
    await repositories.trash.move(viewer, canonical.owner, canonical.name);
    return seeOther(withFlashMessage('/', 'repository-deleted'));
  },
);
