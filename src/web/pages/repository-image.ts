import { imageReply } from '../responses/image-reply.ts';
import { seeOther } from '../responses/reply.ts';
import { submit } from '../submit.ts';
import { withNotice } from '../views/notices.ts';
import { repositoryUrl } from '../views/urls.ts';
import type { Page, RepositoryPersonContext, RepositoryContext } from '../request-context.ts';
import { settingsPage } from './repository-settings.ts';

/** `/repos/{owner}/{name}/image` (SPEC §4.3). `?v=` only changes the address. */
export const showRepositoryImage: Page<RepositoryContext> = async ({ viewer, found }, { repositories }) => {
  const { owner, name } = found.canonical;
  const image = await repositories.openImage(viewer, owner, name);
  return imageReply(image, image.repository.visibility === 'PUBLIC' ? 'public' : 'private');
};

/** Field `image`, the file. What is wrong with it is said beside the field, and the image before stays. */
export const uploadRepositoryImage: Page<RepositoryPersonContext> = (visit, deps) => {
  const {
    viewer,
    found: { canonical },
  } = visit;
  return submit(
    async () => {
      await deps.repositories.replaceImage(viewer, canonical.owner, canonical.name, visit.takeUpload());
      return seeOther(withNotice(`${repositoryUrl(canonical)}/settings`, 'image-saved'));
    },
    (refusal) => settingsPage(visit, deps, { refusal }),
  );
};

export const deleteRepositoryImage: Page<RepositoryPersonContext> = async (
  { viewer, found: { canonical } },
  { repositories },
) => {
  await repositories.removeImage(viewer, canonical.owner, canonical.name);
  return seeOther(withNotice(`${repositoryUrl(canonical)}/settings`, 'image-removed'));
};
