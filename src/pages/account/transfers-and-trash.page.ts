import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import { viewTime } from '../app/times.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

interface Refused {
  /** Id of the repository whose form is shown again. */
  id: string;
  refusal: FormRefusal;
}

async function repositoriesPage(
  context: PersonContext,
  { repositories, clock, config }: AccountDeps,
  refused?: Refused,
): Promise<PageReply> {
  const { viewer, form, query } = context;
  const now = clock.now();
  const [offers, trash] = await Promise.all([
    repositories.transfers.listOffers(viewer),
    repositories.trash.listRestorable(viewer),
  ]);
  return page('account/transfers-and-trash', {
    waiting: offers.map(({ repository, to, offeredAt }) => ({
      id: repository.id,
      row: viewRepositoryRow(repository, now),
      to: to.kind === 'organisation' ? to.handle : null,
      offered: viewTime(offeredAt, now),
    })),
    trash: trash.map((repository) => ({
      id: repository.id,
      row: viewRepositoryRow(repository, now),
      deleted: viewTime(repository.deletedAt ?? now, now),
      gone: viewTime((repository.deletedAt ?? now) + config.repositories.trashKeepMs, now),
      name: refused?.id === repository.id ? form.text('name') : repository.name,
      // Each row contains the same form, so only one of them shows the refusal.
      isRefused: refused?.id === repository.id,
    })),
    refusal: refused?.refusal ?? null,
    notice: viewFlashMessage(query),
  });
}

/** Pending transfers of repositories to the user, and deleted ones that can be restored. */
export const showTransfersAndTrash: Page<PersonContext, AccountDeps> = (context, deps) =>
  repositoriesPage(context, deps);

export const acceptTransfer: Page<PersonContext, AccountDeps> = (context, deps) => {
  const id = context.params.id ?? '';
  return submitForm(
    async () =>
      seeOther(
        withFlashMessage(repositoryUrl(await deps.repositories.transfers.accept(context.viewer, id)), 'transferred'),
      ),
    (refusal) => repositoriesPage(context, deps, { id, refusal }),
  );
};

export const declineTransfer: Page<PersonContext, AccountDeps> = async ({ viewer, params }, { repositories }) => {
  await repositories.transfers.decline(viewer, params.id ?? '');
  return seeOther(withFlashMessage('/settings/repositories', 'transfer-declined'));
};

/** Field `name`: another name when the former one is taken. */
export const restoreRepository: Page<PersonContext, AccountDeps> = (context, deps) => {
  const { viewer, params, form } = context;
  const id = params.id ?? '';
  return submitForm(
    async () => {
      const { name } = await deps.repositories.trash.restore(viewer, id, form.text('name').trim() || undefined);
      const { owner } = (await deps.repositories.locate([id])).get(id)!;
      return seeOther(withFlashMessage(repositoryUrl({ owner: owner.handle, name }), 'restored'));
    },
    (refusal) => repositoriesPage(context, deps, { id, refusal }),
  );
};
