import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../reply.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { withNotice } from '../views/notices.ts';
import { viewRepositoryHead } from '../views/repository-head.ts';
import type { Page, RepositoryPersonVisit } from '../visit.ts';

function settingsPage({ found }: RepositoryPersonVisit, confirm: string, refusal: FormRefusal | null): PageReply {
  return page('pages/repository-settings', { repository: viewRepositoryHead(found), form: { confirm }, refusal });
}

/** For owners only; for everybody else there is no such page (SPEC §4.3). */
export const showRepositorySettings: Page<RepositoryPersonVisit> = (visit) => settingsPage(visit, '', null);

/** Field `confirm`, `owner/name` as it is written. Moves the repository to the trash. */
export const deleteRepository: Page<RepositoryPersonVisit> = (visit, { repositories }) => {
  const { viewer, found, form } = visit;
  const { owner, name } = found.canonical;
  const confirm = form.text('confirm').trim();
  return submit(
    async () => {
      if (confirm !== `${owner}/${name}`) throw invalid('wrong_confirmation', `Type ${owner}/${name} to confirm.`, { field: 'confirm' });
      await repositories.moveToTrash(viewer, owner, name);
      return seeOther(withNotice('/', 'repository-deleted'));
    },
    (refusal) => settingsPage(visit, confirm, refusal),
  );
};
