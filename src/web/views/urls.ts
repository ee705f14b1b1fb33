import type { Owner } from '../../owners/index.ts';

/** The page of a repository (web-ui: `B`). */
export const repositoryUrl = ({ owner, name }: { owner: string; name: string }): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** The page of whoever owns something. */
export const ownerUrl = ({ kind, handle }: Owner): string =>
  kind === 'user' ? personUrl(handle) : `/orgs/${encodeURIComponent(handle)}`;

export const personUrl = (username: string): string => `/users/${encodeURIComponent(username)}`;
