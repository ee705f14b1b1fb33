import { viewCount } from '../app/format-numbers.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { ReleasesDeps } from './deps.ts';
import { deletionUrl, releasesUrl, releaseUrl, restOf } from './release-urls.ts';

async function deletionPage(
  context: RepositoryPersonContext,
  { releases, git, repositories }: ReleasesDeps,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const { viewer, found, form } = context;
  const { tag, title, isDraft, files } = await releases.find(viewer, found.canonical, { tag: restOf(context) });
  const [oid, rights] = await Promise.all([
    git.refs.tip(found.path, `refs/tags/${tag}`),
    repositories.rules.rightsIn(viewer, found.repository),
  ]);
  return page('releases/delete-release', {
    repository: viewRepositoryHeader(found),
    shown: title === '' ? viewName(tag) : title,
    tag: viewName(tag),
    isDraft,
    files: files.length === 0 ? null : viewCount(files.length, 'file'),
    mayDeleteTag: oid !== null && rights.may(`refs/tags/${tag}`, 'delete'),
    deletesTag: form.text('delete_tag') !== '',
    action: deletionUrl(found.canonical, tag),
    back: releaseUrl(found.canonical, tag),
    refusal,
  });
}

/** `B/releases/delete/{tag}`: confirmation before a release is deleted. */
export const confirmReleaseDeletion: Page<RepositoryPersonContext, ReleasesDeps> = (context, deps) =>
  deletionPage(context, deps);

/** Field `delete_tag`: whether to also delete the tag. */
export const deleteRelease: Page<RepositoryPersonContext, ReleasesDeps> = (context, deps) => {
  const { viewer, found, form } = context;
  return submitForm(
    async () => {
      const key = { tag: restOf(context) };
      await deps.releases.delete(viewer, found.canonical, key, { deletesTag: form.text('delete_tag') !== '' });
      return seeOther(withFlashMessage(releasesUrl(found.canonical), 'release-deleted'));
    },
    (refusal) => deletionPage(context, deps, refusal),
  );
};
