import { isDomainError } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { releaseFilePath } from '../../releases/index.ts';
import type { DescribedRelease, ReleaseFile } from '../../releases/index.ts';
import { t } from '../../translation/index.ts';
import { codeUrl, commitUrl, encodeRef } from '../app/code-urls.ts';
import { viewSize } from '../app/format-numbers.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { viewAuthor } from '../issues/people.view.ts';
import type { PersonView } from '../issues/people.view.ts';
import { renderTexts } from '../markdown/render-text.ts';
import type { RenderedText } from '../markdown/render-text.ts';
import type { ReleasesDeps } from './deps.ts';
import { deletionUrl, editUrl, releaseUrl } from './release-urls.ts';

interface ReleaseFileView {
  id: string;
  name: string;
  url: string;
  size: string;
  sha256: string;
  /** `3 downloads`; null for none. */
  downloads: string | null;
}

interface ReleaseView {
  title: string;
  url: string;
  tag: string;
  isDraft: boolean;
  isPrerelease: boolean;
  isLatest: boolean;
  at: TimeView;
  author: PersonView;
  /** Null without notes. */
  text: RenderedText | null;
  files: ReleaseFileView[];
  /** URL of the files at the tag; null while the tag does not exist. */
  tree: string | null;
  commit: { url: string; shortId: string } | null;
  archives: { name: string; url: string }[];
  /** A notice about the tag: it does not exist (yet), or it has moved since the release. */
  tagState: 'there' | 'pending' | 'gone' | 'moved';
  edit: string;
  deletion: string;
}

/** Releases that the viewer can read, with rendered notes, in order. */
export async function viewReleases(
  context: RepositoryContext,
  deps: ReleasesDeps,
  releases: readonly DescribedRelease[],
): Promise<ReleaseView[]> {
  const { found } = context;
  const { git, clock } = deps;
  const at = found.canonical;
  const url = repositoryUrl(at);
  const [refs, latest, people, { texts }] = await Promise.all([
    git.queries.cachedRefs(found.path),
    deps.releases.latestOf(found.repository.id),
    deps.owners.ownersById(releases.flatMap(({ authorId }) => authorId ?? [])),
    renderTexts(
      context,
      deps,
      releases.map(({ body }) => ({ body })),
    ),
  ]);
  return Promise.all(
    releases.map(async (release, index): Promise<ReleaseView> => {
      const { tag, title, body, tagOid, isDraft, isPrerelease } = release;
      const oid = refs.get(`refs/tags/${tag}`);
      const commit = oid === undefined ? null : await commitOf(deps, found.path, tag);
      return {
        title: title === '' ? viewName(tag) : title,
        url: releaseUrl(at, tag),
        tag: viewName(tag),
        isDraft,
        isPrerelease,
        isLatest: release.id === latest?.id,
        at: viewTime(release.listedAt, clock.now()),
        author: viewAuthor(release, people),
        text: body === '' ? null : texts[index]!,
        files: release.files.map((file) => viewFile(file, at, tag)),
        tree: commit === null ? null : codeUrl(url, 'tree', `refs/tags/${tag}`),
        commit: commit === null ? null : { url: commitUrl(url, commit), shortId: commit.slice(0, 10) },
        archives:
          commit === null
            ? []
            : ['zip', 'tar.gz'].map((format) => ({
                name: t('releases.release.source_code_kind', { kind: format }),
                url: `${url}/archive/refs/tags/${encodeRef(tag)}.${format}`,
              })),
        tagState: oid === undefined ? (isDraft ? 'pending' : 'gone') : isDraft || oid === tagOid ? 'there' : 'moved',
        edit: editUrl(at, tag),
        deletion: deletionUrl(at, tag),
      };
    }),
  );
}

async function commitOf({ git }: ReleasesDeps, path: string, tag: string): Promise<string | null> {
  try {
    return await git.refs.resolve(path, `refs/tags/${tag}`);
  } catch (error) {
    // A tag may point to a blob.
    if (isDomainError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

export function viewFile(
  { id, name, bytes, sha256, downloads }: ReleaseFile,
  at: { owner: string; name: string },
  tag: string,
): ReleaseFileView {
  return {
    id,
    name,
    url: releaseFilePath(at, tag, name),
    size: viewSize(bytes),
    sha256,
    downloads: downloads === 0 ? null : t('releases.release.downloads', { count: downloads }),
  };
}
