import { nullIfNotFound } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { codeUrl, commitUrl } from '../app/code-urls.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { blankChange, readChange, sendChange, viewChange } from './change-form.ts';
import type { ChangeForm } from './change-form.ts';
import type { EditingDeps } from './deps.ts';
import { readEditTarget } from './edit-target.ts';
import type { EditTarget } from './edit-target.ts';

/** `B/delete/{branch}/{path}`: confirmation before a file is deleted. */
export const confirmFileDeletion: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const place = await readEditTarget(context, deps);
  return deletionPage(context, deps, place, blankChange(place), null);
};

/** Fields `blob` and those of `readChange`. Redirects to the commit, which can be reverted there. */
export const removeFile: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const { form, found } = context;
  const place = await readEditTarget(context, deps);
  const change = readChange(form, place);
  const path = place.file.toString();
  return submitForm(
    () =>
      sendChange(context, deps, place, {
        operations: [{ kind: 'delete', path, expected: form.text('blob') || undefined }],
        change,
        leadsTo: (_branch, commit) =>
          withFlashMessage(commitUrl(repositoryUrl(found.canonical), commit), 'file-deleted'),
      }),
    (refusal) => deletionPage(context, deps, place, change, refusal),
  );
};

async function deletionPage(
  { found }: RepositoryContext,
  { git }: EditingDeps,
  place: EditTarget,
  change: ChangeForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { branch, tip, file } = place;
  const repository = viewRepositoryHeader(found);
  const name = viewName(file.toString());
  const entry = tip === null ? null : await git.objects.entryAt(found.path, tip, file).catch(nullIfNotFound);
  if (entry === null || (entry.kind !== 'file' && entry.kind !== 'executable'))
    return page('editing/no-file', { repository, branch, name }, { status: 404 });
  return page('editing/delete-file', {
    repository,
    branch,
    name,
    blob: entry.oid,
    action: codeUrl(repository.url, 'delete', branch, file),
    cancel: codeUrl(repository.url, 'blob', branch, file),
    change: viewChange(place, change, t('editing.delete_file.delete_name', { name })),
    refusal,
  });
}
