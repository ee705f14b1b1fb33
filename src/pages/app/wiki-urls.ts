import { repositoryUrl } from '../../http/index.ts';
import type { RepositoryAddress } from '../../repositories/index.ts';

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** The pages of a wiki. */
export const wikiUrl = (at: RepositoryAddress): string => `${repositoryUrl(at)}/wiki`;

/** A page by its title: spaces are hyphens there, as in its file. */
export const wikiPageUrl = (at: RepositoryAddress, title: string): string =>
  `${wikiUrl(at)}/${encoded(title.includes('-') ? title : title.replaceAll(' ', '-'))}`;

/** A file that is no page, such as an image. */
export const wikiFileUrl = (at: RepositoryAddress, path: string): string => `${wikiUrl(at)}/_raw/${encoded(path)}`;
