import { repositoryUrl } from '../../http/index.ts';
import { notFound } from '../../kernel/index.ts';
import { encodeRef } from '../app/code-urls.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { rawPath } from '../code/raw-path.ts';

type At = { owner: string; name: string };

export const releasesUrl = (at: At): string => `${repositoryUrl(at)}/releases`;
export const releaseUrl = (at: At, tag: string): string => `${releasesUrl(at)}/tag/${encodeRef(tag)}`;
export const editUrl = (at: At, tag: string): string => `${releasesUrl(at)}/edit/${encodeRef(tag)}`;
export const deletionUrl = (at: At, tag: string): string => `${releasesUrl(at)}/delete/${encodeRef(tag)}`;

/** The part of the URL after `B/releases/<word>/`: a tag may contain slashes. */
export function restOf({ path }: Pick<RepositoryContext, 'path'>): string {
  const rest = rawPath(path).toString('utf8');
  return rest.slice(rest.indexOf('/') + 1);
}

/** Splits `<tag>/<file>` into a tag and a file name. */
export function splitDownload(rest: string): { tag: string; name: string } {
  const slash = rest.lastIndexOf('/');
  if (slash < 1) throw notFound();
  return { tag: rest.slice(0, slash), name: rest.slice(slash + 1) };
}
