import type { z } from 'zod';
import type { TreeEntry } from '../../../git/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type * as schemas from './contents-schemas.ts';

/** Larger files are shown only by their URL. */
export const maxContentBytes = 2 * 1024 * 1024;

const types = { folder: 'dir', file: 'file', executable: 'file', symlink: 'symlink', submodule: 'submodule' } as const;

interface ContentsContext {
  origin: string;
  at: Found['canonical'];
  /** The branch, tag or commit as the caller named it. */
  ref: string;
  commit: string;
}

export const apiOf = ({ origin, at }: Pick<ContentsContext, 'origin' | 'at'>): string =>
  `${origin}/api/v1/repos/${at.owner}/${at.name}`;

const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** An entry without its content, in the form of Gitea's API. */
export function showEntry(
  path: string,
  { name, kind, oid, size }: TreeEntry,
  { origin, at, ref, commit }: ContentsContext,
): z.output<typeof schemas.contents> {
  const page = `${origin}${repositoryUrl(at)}`;
  const inPath = encodedPath(path);
  const inRef = encodedPath(ref);
  const isBlob = kind !== 'folder' && kind !== 'submodule';
  const url = `${apiOf({ origin, at })}/contents/${inPath}?ref=${encodeURIComponent(ref)}`;
  const html = `${page}/${isBlob ? 'blob' : 'tree'}/${inRef}/${inPath}`;
  const git = isBlob ? `${apiOf({ origin, at })}/git/blobs/${oid}?ref=${commit}` : null;
  return {
    name,
    path,
    sha: oid,
    type: types[kind],
    size: size ?? 0,
    last_commit_sha: null,
    encoding: null,
    content: null,
    target: null,
    url,
    html_url: html,
    git_url: git,
    download_url: isBlob ? `${page}/raw/${inRef}/${inPath}` : null,
    submodule_git_url: null,
    _links: { self: url, git, html },
  };
}

/** A file, a symbolic link or a submodule, with its content or target. */
export async function showWithContent(
  { git }: Pick<WebDeps, 'git'>,
  folder: string,
  path: string,
  entry: TreeEntry,
  place: ContentsContext,
): Promise<z.output<typeof schemas.contents>> {
  const shown = showEntry(path, entry, place);
  const last = await git.queries.lastChange(folder, place.commit, Buffer.from(path));
  shown.last_commit_sha = last?.oid ?? null;
  if (entry.type !== 'blob') return shown;
  const { content, size } = await git.objects.blob(folder, entry.oid, { maxBytes: maxContentBytes });
  shown.size = size;
  if (entry.kind === 'symlink') return { ...shown, target: content?.toString() ?? null };
  return content === null ? shown : { ...shown, encoding: 'base64', content: content.toString('base64') };
}
