import { repositoryUrl } from '../../http/index.ts';
import type { RepositoryAddress } from '../../repositories/index.ts';

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** URL of the pages of a wiki. */
export const wikiUrl = (at: RepositoryAddress): string => `${repositoryUrl(at)}/wiki`;

/** URL of a page by its title: hyphens replace spaces, as in its file name. */
export const wikiPageUrl = (at: RepositoryAddress, title: string): string =>
  `${wikiUrl(at)}/${encoded(title.includes('-') ? title : title.replaceAll(' ', '-'))}`;

/** URL of a file that is not a page, such as an image. */
export const wikiFileUrl = (at: RepositoryAddress, path: string): string => `${wikiUrl(at)}/_raw/${encoded(path)}`;
