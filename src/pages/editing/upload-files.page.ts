import { invalid } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { viewSize } from '../app/format-numbers.ts';
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

/** `B/upload/{branch}/{folder}` */
export const showUpload: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const place = await readEditTarget(context, deps);
  return uploadPage(context, deps, place, { ...blankChange(place), folder: place.file.toString() }, null);
};

interface UploadForm extends ChangeForm {
  folder: string;
}

/** Fields `folder`, `files`, and those of `readChange`. Replaces existing files. */
export const uploadFiles: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const { form, found } = context;
  const place = await readEditTarget(context, deps);
  const folder = form.text('folder').trim().replace(/\/+$/, '');
  const values: UploadForm = { ...readChange(form, place), folder };
  return submitForm(
    () => {
      const files = context.takeContents();
      if (files.length === 0) throw invalid('no_files', 'Choose the files to upload.', { field: 'files' });
      const operations = files.map(({ name, content }) => ({
        kind: 'put' as const,
        path: folder === '' ? name : `${folder}/${name}`,
        content,
      }));
      return sendChange(context, deps, place, {
        operations,
        change: values,
        leadsTo: (branch) =>
          withFlashMessage(
            codeUrl(repositoryUrl(found.canonical), 'tree', branch, Buffer.from(folder)),
            'files-uploaded',
          ),
      });
    },
    (refusal) => uploadPage(context, deps, place, values, refusal),
    { path: 'folder', content: 'files' },
  );
};

function uploadPage(
  { found }: RepositoryContext,
  { repositories }: EditingDeps,
  place: EditTarget,
  values: UploadForm,
  refusal: FormRefusal | null,
): PageReply {
  const repository = viewRepositoryHeader(found);
  const { branch, file } = place;
  return page('editing/upload-files', {
    repository,
    branch: viewName(branch),
    folder: values.folder,
    most: viewSize(repositories.contents.maxBytes),
    action: codeUrl(repository.url, 'upload', branch, file),
    cancel: place.tip === null ? repository.url : codeUrl(repository.url, 'tree', branch, file),
    change: viewChange(place, values, 'Upload files'),
    refusal,
  });
}
