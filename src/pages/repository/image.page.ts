import { imageReply } from '../app/image-reply.ts';
import { seeOther } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../app/request-context.ts';
import { settingsPage } from './general-settings.page.ts';
import type { RepositoryDeps } from './deps.ts';

/** `/repos/{owner}/{name}/image` (SPEC §4.3). `?v=` only makes the URL unique. */
export const showRepositoryImage: Page<RepositoryContext, RepositoryDeps> = async (
  { viewer, found },
  { repositories },
) => {
  const { owner, name } = found.canonical;
  const image = await repositories.images.open(viewer, owner, name);
  return imageReply(image, image.repository.visibility === 'PUBLIC' ? 'public' : 'private');
};

/** Field `image`, the file. An error is shown beside the field, and the earlier image stays. */
export const uploadRepositoryImage: Page<RepositoryPersonContext, RepositoryDeps> = (context, deps) => {
  const {
    viewer,
    found: { canonical },
  } = context;
  return submitForm(
    async () => {
      await deps.repositories.images.replace(viewer, canonical.owner, canonical.name, context.takeUpload());
      return seeOther(withFlashMessage(`${repositoryUrl(canonical)}/settings`, 'image-saved'));
    },
    (refusal) => settingsPage(context, deps, { refusal }),
  );
};

export const deleteRepositoryImage: Page<RepositoryPersonContext, RepositoryDeps> = async (
  { viewer, found: { canonical } },
  { repositories },
) => {
  await repositories.images.remove(viewer, canonical.owner, canonical.name);
  return seeOther(withFlashMessage(`${repositoryUrl(canonical)}/settings`, 'image-removed'));
};
