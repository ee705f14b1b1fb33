import type { RepositoryAt } from './find-release.ts';

const encodePath = (text: string): string => text.split('/').map(encodeURIComponent).join('/');
const releasesPath = ({ owner, name }: RepositoryAt): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}/releases`;

/** The page of a release, `B/releases/tag/{tag}`, as on Gitea and GitHub. */
export const releasePath = (at: RepositoryAt, tag: string): string => `${releasesPath(at)}/tag/${encodePath(tag)}`;

/** The stable URL of a file, `B/releases/download/{tag}/{name}`. */
export const releaseFilePath = (at: RepositoryAt, tag: string, name: string): string =>
  `${releasesPath(at)}/download/${encodePath(tag)}/${encodeURIComponent(name)}`;
