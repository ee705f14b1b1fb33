import { anonymous } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { RequestContext } from '../app/request-context.ts';
import { remoteImagesOf } from '../markdown/remote-images.ts';
import { readReferences } from '../markdown/reference-links.ts';
import { repositoryLinks } from '../markdown/repository-links.ts';
import type { CodeDeps } from './deps.ts';
import { findReadmeFile } from './find-readme-file.ts';
import { maxReadBytes, prepareReadme, referencesOfReadme, viewReadme } from './readme.view.ts';
import type { ReadmeView } from './readme.view.ts';

/** The functions of the code pages that an owner's profile uses. */
export type ProfileReadmeDeps = Pick<CodeDeps, 'config' | 'git' | 'imageProxy' | 'issues' | 'repositories' | 'workers'>;

const maxEntries = 1_000;

/**
 * The README of an owner's profile: of the public repository `.profile`, as in Gitea and Forgejo, or of the repository
 * named like the owner, as in GitHub. Null if neither has one that everyone can read.
 */
export async function readProfileReadme(
  context: RequestContext,
  deps: ProfileReadmeDeps,
  owner: Owner,
): Promise<ReadmeView | null> {
  for (const name of ['.profile', owner.handle]) {
    const readme = await readmeOf(context, deps, owner, name);
    if (readme !== null) return readme;
  }
  return null;
}

async function readmeOf(
  context: RequestContext,
  deps: ProfileReadmeDeps,
  owner: Owner,
  name: string,
): Promise<ReadmeView | null> {
  const { git, workers } = deps;
  const { origin, viewer } = context;
  const found = await deps.repositories.find(anonymous, owner.handle, name).catch(nullIfNotFound);
  if (found === null) return null;
  const { branch, oid } = await git.refs.head(found.path);
  if (oid === null) return null;
  const folder = Buffer.alloc(0);
  const { entries } = await git.queries.folder(found.path, oid, folder, { maxEntries });
  const file = await findReadmeFile(git, found.path, { oid, file: folder }, entries);
  if (file === null) return null;
  const { entry } = file;
  const client = repositoryUrl(found.canonical);
  const place = {
    repositoryUrl: client,
    ref: branch ?? 'HEAD',
    folder: file.folder,
    ...remoteImagesOf(found, deps, origin),
  };
  const { content } = await git.objects.blob(found.path, entry.oid, { maxBytes: maxReadBytes });
  const { showsRemoteImages } = place;
  const prepared = await prepareReadme(workers, entry, content, { client, showsRemoteImages, origin });
  const references = await readReferences({ found, viewer, origin }, deps, referencesOfReadme(prepared));
  return viewReadme(prepared, { links: repositoryLinks(place), references, origin, taskForm: null });
}
