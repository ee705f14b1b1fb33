import { allows } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { RefPath } from '../../git/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CodePage } from '../app/code-urls.ts';
import { viewBreadcrumbs } from './breadcrumbs.view.ts';
import { newestVersions } from './newest-versions.ts';
import { shownInMenu, viewRefSelector } from './ref-selector.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { rawPath } from './raw-path.ts';
import type { CodeDeps } from './deps.ts';

/** The ref and path in a URL; the default branch when it names none. */
export async function resolveLocation({ found, path }: RepositoryContext, { git }: CodeDeps): Promise<RefPath> {
  return resolveLocationBytes(found, rawPath(path), git);
}

/** Users with write access also see commits that no ref contains any more. */
export async function resolveLocationBytes(found: Found, rest: Buffer, git: CodeDeps['git']): Promise<RefPath> {
  if (rest.length > 0)
    return git.queries.resolveRefPath(found.path, rest, { includeUnreachable: allows(found.level, 'write') });
  const { branch, oid } = await git.queries.cachedHead(found.path);
  if (oid === null) throw notFound();
  return headPath(branch, oid);
}

/** The root of the tree at HEAD. @param branch null while HEAD names a commit */
export function headPath(branch: string | null, oid: string): RefPath {
  const ref = branch ?? 'HEAD';
  return { kind: branch === null ? 'head' : 'branch', ref, name: ref, oid, file: Buffer.alloc(0), isAmbiguous: false };
}

/** The common frame of every page about a path in a repository. */
export async function readCodeNavigation({ found }: RepositoryContext, { git }: CodeDeps, at: RefPath, page: CodePage) {
  const [refs, { branch }] = await Promise.all([
    git.queries.cachedRefs(found.path),
    git.queries.cachedHead(found.path),
  ]);
  const newestTags = await newestVersions(refs, shownInMenu.tags);
  const repository = viewRepositoryHeader(found);
  return {
    repository,
    place: viewBreadcrumbs(repository.url, found.canonical.name, at, page),
    selector: viewRefSelector({ repositoryUrl: repository.url, refs, newestTags, at, page, defaultBranch: branch }),
  };
}
